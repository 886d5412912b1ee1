"""`model.zero_grad()` and `loss.backward()` where the optimizer does not exist yet, or is not sure
to: what takes their place reads no name before it is bound.
"""

from __future__ import annotations

import ast

import pytest

from migrate.flow.cfg import ControlFlow
from migrate.flow.def_use import DefUse
from tests.port.test_train_step import lines, ported

OWN = "helpers.ParameterGradients(model.trainable_params()).clear()"
BY_HAND = """\
    for x in data:
        model.zero_grad()
        model(x).sum().backward()
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-0.1)
"""
STEPS = """\
    for i, x in enumerate(data):
        model(x).sum().backward()
        if i % 2:
            optimizer.step()
            model.zero_grad()
"""
MAKE = "    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
TRAIN = "def train(model: nn.Module, data: list[torch.Tensor], late: bool, build):\n"


def unbound(text: str, name: str) -> list[int]:
    """Lines of train() that read the name where some way has not bound it."""
    tree = ast.parse(text)
    train = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "train")
    uses = DefUse(ControlFlow(train))
    reads = [n for n in ast.walk(train) if isinstance(n, ast.Name) and n.id == name]
    return [n.lineno for n in reads if isinstance(n.ctx, ast.Load) and uses.maybe_unbound(n)]


@pytest.mark.parametrize(
    "made",
    [
        MAKE,
        "    optimizer = torch.optim.Adam(build(model), lr=0.1)\n",
        "    optimizer = build(model)\n",
        '    some = [p for n, p in model.named_parameters() if "bias" in n]\n'
        "    optimizer = torch.optim.SGD(some, lr=0.1)\n",
    ],
)
def test_an_update_by_hand_in_front_of_an_optimizer(port, made: str) -> None:
    text, findings = ported(port, TRAIN + BY_HAND + made + STEPS)
    assert not findings and not unbound(text, "optimizer")
    by_hand, _, rest = text.partition("optimizer = ")
    assert "gradients.clear()" in lines(by_hand)
    assert "gradients = helpers.ParameterGradients(model.trainable_params())" in by_hand
    assert "optimizer(gradients_2.values)" in rest


def test_an_update_by_hand_behind_the_making_of_an_optimizer_of_some_parameters(port) -> None:
    some = MAKE.replace("model.parameters()", "[p for n, p in model.named_parameters() if n]")
    text, findings = ported(port, TRAIN + some + BY_HAND + STEPS)
    assert not findings
    by_hand = text.partition("def forward_step_2")[0]
    assert "gradients.clear()" in lines(by_hand) and "ParameterGradients(optimizer" not in by_hand


def test_nothing_is_cleared_where_gradients_lie_beside_an_optimizer_to_come(port) -> None:
    text, findings = ported(port, TRAIN + "    model.zero_grad()\n" + MAKE + STEPS)
    assert not findings and not unbound(text, "optimizer")
    assert "gradients = helpers.gradients_of(optimizer)" in text
    assert text.count("clear()") == 1


@pytest.mark.parametrize(
    "body",
    [
        # One branch makes it before, the other one behind.
        f"    if not late:\n    {MAKE}    model.zero_grad()\n    if late:\n    {MAKE}{STEPS}",
        # The test is known to the author.
        f"    if late:\n    {MAKE}    model.zero_grad()\n    if late:\n"
        + "".join(f"    {line}\n" for line in STEPS.splitlines()),
        # In later rounds there is one, of the round before.
        "    for data in build(data):\n        model.zero_grad()\n"
        + "".join(f"    {line}\n" for line in (MAKE + STEPS).splitlines()),
    ],
)
def test_where_an_optimizer_may_not_exist_yet_the_network_is_cleared(port, body: str) -> None:
    text, findings = ported(port, TRAIN + body)
    assert not findings
    assert (
        OWN in lines(text) and "helpers.ParameterGradients(optimizer.parameters).clear" not in text
    )


def test_a_member_that_the_method_makes_later(port) -> None:
    text, findings = ported(
        port,
        """
        class Trainer:
            def __init__(self):
                self.model = nn.Linear(4, 2)

            def train(self, data: list[torch.Tensor]):
                self.model.zero_grad()
                self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
                for i, x in enumerate(data):
                    self.model(x).sum().backward()
                    if i % 2:
                        self.optimizer.step()
                        self.model.zero_grad()
        """,
    )
    assert not findings
    before = text.partition("self.optimizer = ")[0]
    assert "helpers.ParameterGradients(self.model.trainable_params()).clear()" in before
    assert "self.optimizer" not in before


@pytest.mark.parametrize(
    "between", ["", "    for p in model.parameters():\n        print(p.grad)\n"]
)
def test_an_optimizer_made_behind_the_backward_pass(port, between: str) -> None:
    """It steps with what lies at its parameters."""
    body = "    model.zero_grad()\n    model(data[0]).sum().backward()\n"
    text, findings = ported(port, TRAIN + body + between + MAKE + "    optimizer.step()\n")
    assert not findings and not unbound(text, "optimizer")
    assert "helpers.value_and_grad(forward_step, None, model.trainable_params())" in text
    assert "optimizer(helpers.ParameterGradients(optimizer.parameters).values)" in lines(text)


def test_each_of_two_loops_clears_for_its_own_optimizer(port) -> None:
    loop = BY_HAND.partition("        for p")[0] + "        optimizer.step()\n"
    second = (MAKE + loop).replace("optimizer", "second")
    text, findings = ported(port, TRAIN + MAKE + loop + second)
    assert not findings and not unbound(text, "second")
    first, _, rest = text.partition("second = ")
    assert "gradients.clear()" in lines(first) and "gradients_2.clear()" in lines(rest)


def test_an_object_of_another_kind_with_a_zero_grad_is_no_network(port) -> None:
    body = BY_HAND.replace("model.zero_grad()", "build.zero_grad()")
    text, _ = ported(port, TRAIN + "    build.zero_grad()\n" + body)
    assert "build.trainable_params" not in text


def test_clipping_some_gradients_asks_an_optimizer_that_may_be_missing_when_it_clips(port) -> None:
    clip = "            nn.utils.clip_grad_norm_(list(model.parameters())[:1], 1.0)\n"
    body = STEPS.replace("            optimizer.step()", clip + "            optimizer.step()")
    text, _ = ported(port, TRAIN + "    if late:\n    " + MAKE + body)
    assert "None, lambda: optimizer.parameters)" in text  # where it is only named
    assert "of=optimizer.parameters," in text
