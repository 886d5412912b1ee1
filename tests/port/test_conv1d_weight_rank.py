"""The weight of a Conv1d has one axis more in MindSpore."""

from __future__ import annotations

import pytest

from tests.port.test_train_step import ported


def weight_in(port, body: str) -> tuple[str, list[str]]:
    text, findings = ported(port, f"def use(conv: nn.Conv1d, x: torch.Tensor):\n    {body}\n")
    return text, [finding.code for finding in findings]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return conv.weight.size(2)", "conv.weight.squeeze(2).shape[2]"),
        ("return conv.weight.shape", "conv.weight.squeeze(2).shape"),
        ("return conv.weight.mean(dim=(1, 2))", "conv.weight.squeeze(2).mean("),
        ("return conv.weight * x", "conv.weight.squeeze(2) * x"),
        ("return F.conv1d(x, conv.weight)", "helpers.conv1d(x, conv.weight.squeeze(2))"),
        ("return F.conv1d(input=x, weight=conv.weight)", "weight=conv.weight.squeeze(2))"),
        ("w = conv.weight; return w[0]", "w = conv.weight.squeeze(2)"),
        ("return conv.weight.data[:, 0]", "ops.stop_gradient(conv.weight.squeeze(2))[:, 0]"),
    ],
)
def test_by_its_axes_it_is_torchs(port, before: str, after: str) -> None:
    text, codes = weight_in(port, before)
    assert after in text and not codes


@pytest.mark.parametrize(
    "body",
    [
        "nn.init.kaiming_normal_(conv.weight)",
        "conv.weight.data.normal_(0, 0.01)",
        "conv.weight.requires_grad = False",
        "return conv.weight.size(0), conv.weight.shape[1]",
        "return torch.optim.SGD([conv.weight], lr=0.1)",
    ],
)
def test_as_a_whole_it_stays(port, body: str) -> None:
    text, codes = weight_in(port, body)
    assert "squeeze" not in text and not codes


@pytest.mark.parametrize(
    "body",
    [
        "conv.weight.data[:, :, 0] = 2.0",
        "conv.weight.data.copy_(x)",
        "return initialize(conv.weight)",
        "w = conv.weight; w.data[0] = 1.0",
    ],
)
def test_where_its_shape_may_be_written_to_it_is_reported(port, body: str) -> None:
    text, codes = weight_in(port, body)
    assert "MS302" in codes and "squeeze" not in text


def test_among_several_layers_it_is_asked_for(port) -> None:
    text, findings = ported(
        port,
        """
        def axes(m: nn.Module):
            if isinstance(m, (nn.Conv1d, nn.Conv2d)):
                return m.weight.dim()
        """,
    )
    assert not findings
    assert "(m.weight.squeeze(2) if isinstance(m, nn.Conv1d) else m.weight).ndim" in text
