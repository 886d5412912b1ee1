"""`y.sum().backward()` in a function that only tries its model out."""

from __future__ import annotations

import pytest

from tests.port.test_train_step import lines, ported

MODEL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.size = (1, 4)

    def forward(self, x):
        return self.fc(x)
"""


def test_the_gradients_are_computed_and_dropped(port) -> None:
    text, findings = ported(
        port,
        f"""
{MODEL}

def _test():
    for model in [Net, Net]:
        net = model()
        net.eval()
        count = sum(p.numel() for p in net.parameters())
        print("m={{}}, {{}}".format(model.__name__, count))
        x = torch.randn(1, net.size[1])
        y = net(x)
        y.sum().backward()
        assert tuple(y.size()) == (1, 2)


if __name__ == "__main__":
    net = Net()
    out = net(torch.ones(2, 4))
    out.mean().backward()
    print(out.shape)
""",
    )
    assert not findings
    found = lines(text)
    weights = "net.trainable_params()"
    differentiate = f"helpers.value_and_grad(forward_step, None, {weights}, has_aux=True)"
    assert found.count(f"grad_step = {differentiate}") == 2
    assert "(_, y), _ = grad_step(x)" in found
    assert "(_, out), _ = grad_step()" in found
    assert "helpers.backward" not in text  # a record would be PyNative mode for all


@pytest.mark.parametrize(
    ("setup", "rest"),
    [
        ("trainer = Trainer(net)", "trainer.update()"),
        ("net.eval()", "apply_gradients(net)"),
        ("net.eval()", "return net"),
        ("net.eval()", "net.learn()"),
        ("net.eval()", "kept = net"),
    ],
)
def test_what_may_still_use_them_is_reported(port, setup: str, rest: str) -> None:
    _, findings = ported(
        port,
        f"""
{MODEL}

def try_out(x: torch.Tensor):
    net = Net()
    {setup}
    y = net(x)
    y.sum().backward()
    {rest}
""",
    )
    assert {finding.code for finding in findings} == {"MS408"}


def test_a_model_from_elsewhere_may_be_trained_there(port) -> None:
    _, findings = ported(
        port,
        f"""
{MODEL}

def one_step(net: Net, x: torch.Tensor):
    y = net(x)
    y.sum().backward()
""",
    )
    assert {finding.code for finding in findings} == {"MS408"}


def test_a_model_from_before_the_loop_meets_what_stands_above(port) -> None:
    _, findings = ported(
        port,
        f"""
{MODEL}

def several(x: torch.Tensor):
    net = Net()
    for _ in range(3):
        apply_gradients(net)
        net(x).sum().backward()
""",
    )
    assert {finding.code for finding in findings} == {"MS408"}
