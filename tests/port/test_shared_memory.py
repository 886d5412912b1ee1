"""Changes in place that another value would show in torch: reported, never lost in silence."""

from __future__ import annotations

import pytest

FILL = "def fill_(t: torch.Tensor):"
HEAD = "import torch\nimport torch.nn.functional as F\n\n\ndef f(x: torch.Tensor):\n"


def codes(port, *lines: str) -> list[str]:
    return [f.code for f in port(HEAD + "".join(f"    {line}\n" for line in lines)).findings]


@pytest.mark.parametrize(
    "lines",
    [
        ("y = x.diagonal()", "y += 1", "return x"),
        ("y = x.float()", "y.mul_(2)", "return x"),
        ("y, z = x.chunk(2)", "y[0] = 1", "return x"),
        ("for y in x:", "    y.add_(1)", "return x"),
        ("y = 1 + F.relu(x, inplace=True)", "return x * y"),
    ],
)
def test_what_others_could_see_is_reported(port, lines: tuple[str, ...]) -> None:
    assert codes(port, *lines) == ["MS403"]


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (("y = x[0]", "y += 1", "return x"), "x[0] = y"),
        (("y = x[:, 1:2]", "y[0] = 1", "return x"), "x[:, 1:2] = y"),
        (("y = x.view(-1)", "y.mul_(2)", "return x"), "x = y.reshape(x.shape)"),
        (("y = x.unsqueeze(1)", "x += 1", "return y"), "y = x.reshape(y.shape)"),
        (("y = x.T", "x.add_(1)", "return y"), "y = x.T"),
        (("y = x.transpose(0, 1)", "y.add_(1)", "return x"), "x = y.swapaxes(0, 1)"),
        (("y = x", "x.add_(1)", "return y"), "x = y = x.add(1)"),
    ],
)
def test_the_other_side_of_a_view_is_computed_anew(port, lines: tuple[str, ...], line: str) -> None:
    ported = port(HEAD + "".join(f"    {text}\n" for text in lines))
    assert not ported.findings
    assert f"    {line}\n" in ported.text


@pytest.mark.parametrize(
    "lines",
    [
        ("y = x[0]", "y += 1", "return y"),
        ("y = x[x > 0]", "y += 1", "return x + y.sum()"),
        ("y = x.clone()", "y[0] = 1", "return x + y"),
        ("y = x.view(-1)", "y = y + 1", "return x.view(-1) + y"),
        ("y = 1 + torch.sigmoid_(x)", "return y"),
    ],
)
def test_what_nobody_sees_is_not(port, lines: tuple[str, ...]) -> None:
    assert codes(port, *lines) == []


@pytest.mark.parametrize(
    ("head", "lines", "wanted"),
    [
        (FILL, "t.mul_(2).add_(1)\n    return t", "set_value(t, t.mul(2)"),
        (
            "def fill_(t: torch.Tensor):",
            "return t.mul_(2)",
            "return helpers.set_value(t, t.mul(2))",
        ),
        (
            "@torch.no_grad()\ndef f(t: torch.Tensor):",
            "t *= 2\n    return t",
            "(t, t * 2)",
        ),
        ("def f(t: torch.Tensor):", "t.mul_(2)", "helpers.set_value(t, t.mul(2))"),
        ("def f(t: torch.Tensor):", "t.mul_(2)\n    return t", "t = t.mul(2)"),
        (FILL, "t = t + 1\n    t.mul_(2)\n    return t", "t = t.mul(2)"),
    ],
)
def test_a_function_that_fills_its_argument_changes_it(port, head, lines, wanted) -> None:
    assert wanted in port(f"import torch\n\n\n{head}\n    {lines}\n").text


def test_a_part_of_a_parameter_is_written_in_place(port) -> None:
    """The forget gate's bias: item assignment changes the Parameter itself."""
    result = port(
        """
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.LSTM(4, 8)
                for name, p in self.named_parameters():
                    if "bias" in name:
                        n = p.size(0)
                        p.data[n // 4 : n // 2].fill_(1.0)
        """
    )
    assert not result.findings
    assert "p[n // 4 : n // 2] = ops.full_like(p[n // 4 : n // 2], 1.0)" in result.text


def test_a_change_inside_of_an_expression_gets_a_line_in_front(port) -> None:
    ported = port(HEAD + "    y = 1 + torch.sigmoid_(x)\n    return x * y\n")
    assert ported.findings == []
    front, use = ported.text.index("ops.sigmoid(x)"), ported.text.index("y = 1 + x")
    assert front < use
