"""Integers and truth values carry no gradient, in MindSpore only where they are cut off."""

from __future__ import annotations

import pytest

from tests.port.test_train_step import ported

HEAD = """
class Net(nn.Module):
    def forward(self, x):
"""


def body_of(port, *statements: str, head: str = HEAD) -> str:
    text, findings = ported(port, head + "".join(f"        {s}\n" for s in statements))
    assert not findings
    return text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return x.long().float()", "ops.stop_gradient(x).long().float()"),
        ("return x.floor().int() * 0.5", "ops.stop_gradient(x.floor()).int() * 0.5"),
        ("return x.to(torch.int64) / 2", "ops.stop_gradient(x).astype(mindspore.int64) / 2"),
        ("return x.long() if self.hard else x", "ops.stop_gradient(x).long() if self.hard"),
        ("return x.long().gather(1, self.i) * x", "ops.stop_gradient(x).long()"),
        ("return torch.where(x > 0, x.int(), 0) * x", "ops.stop_gradient(x).int()"),
        ("return torch.gather(x.long(), 1, self.i) * x", "ops.stop_gradient(x).long()"),
        ("return x.type(torch.LongTensor) / 2", "ops.stop_gradient(x)"),
        ("return x.to(dtype=torch.bool).sum()", "ops.stop_gradient(x)"),
    ],
)
def test_a_cast_ends_the_gradient(port, before: str, after: str) -> None:
    assert after in body_of(port, before)


@pytest.mark.parametrize(
    "statement",
    [
        "return (x > 3).long() * x",
        "return x.argmax(1).int().float()",
        "return x[x[:, 0].long()]",
        "return F.one_hot(x.long(), 5).float()",
        "return x.gather(1, x.long()) + torch.gather(x, 1, index=x.long())",
        "return x.long() == 3",
        "return x.float()",
        "return x.to(torch.float32)",
    ],
)
def test_where_none_could_pass_nothing_is_cut(port, statement: str) -> None:
    assert "stop_gradient" not in body_of(port, statement)


def test_labels_and_data_are_left_as_they_are(port) -> None:
    text, _ = ported(
        port,
        """
        class Data(torch.utils.data.Dataset):
            def __getitem__(self, index):
                return self.x[index], torch.as_tensor(self.y[index]).long()

        class Loss(nn.Module):
            def forward(self, output, target):
                target = target.long()
                return F.cross_entropy(output, target)
        """,
    )
    assert "stop_gradient" not in text


@pytest.mark.parametrize(
    "made",
    [
        "places = x.argmax(1)",
        "values, places = x.topk(2)",
        "values, places = torch.max(x, 1)",
        "places = x > 2",
        "places = ((x > 2) & (x < 5)).long()",
        "places = (x > 2).sum(1)",
    ],
)
def test_what_is_counted_with_twice_is_cut_off(port, made: str) -> None:
    text = body_of(port, made, "return places.float().mean() + (places * x[0]).sum()")
    assert "\n        places = ops.stop_gradient(places)\n" in text


@pytest.mark.parametrize(
    "used",
    [
        "return x[places] + x.gather(1, places)",
        "return (places * x).sum()",
        "return x[places] if places.any() else places.float()",
    ],
)
def test_what_only_finds_something_is_not(port, used: str) -> None:
    assert "stop_gradient" not in body_of(port, "values, places = x.topk(2)", used)
