"""autograd.grad and x.grad of plain tensors: the way from inputs to outputs becomes a function."""

from __future__ import annotations

import textwrap

import pytest

HEAD = """\
import torch
import torch.nn.functional as F
from torch import autograd, nn
from torch.autograd import Variable
"""


def ported(port, source: str):
    done = port(HEAD + textwrap.dedent(source))
    return done.text, done.findings


def test_a_gradient_penalty_becomes_a_function_of_its_input(port) -> None:
    text, findings = ported(
        port,
        """
        def penalty(D: nn.Module, x: torch.Tensor, labels: torch.Tensor):
            x.requires_grad_(True)
            d = D(x, labels)
            ones = Variable(torch.ones(d.size()).cuda(), requires_grad=False)
            grads = autograd.grad(
                outputs=d, inputs=x, grad_outputs=ones,
                create_graph=True, retain_graph=True, only_inputs=True,
            )[0]
            return ((grads.norm(2, dim=1) - 1) ** 2).mean()
        """,
    )
    assert not findings
    assert "def outputs_of(x, labels):" in text
    assert "return d\n" in text
    assert "helpers.with_gradients(outputs_of, (x,), (labels,), create_graph=True)" in text
    # the ones look at the output's size: they stay behind it
    assert text.index("with_gradients") < text.index("ones = ")
    assert "grads = x_grads[0]" in text and "requires_grad" not in text


def test_the_sum_of_an_output_is_differentiated_as_the_output(port) -> None:
    text, findings = ported(
        port,
        """
        def r1(D: nn.Module, real: torch.Tensor):
            real.requires_grad = True
            pred = D(real)
            grad, = autograd.grad(outputs=pred.sum(), inputs=real, create_graph=True)
            return pred, grad.pow(2).sum()
        """,
    )
    assert not findings
    assert (
        "pred, real_grads = helpers.with_gradients(outputs_of, (real,), create_graph=True)" in text
    )
    assert "grad, = real_grads" in text


def test_other_starts_weigh_the_output(port) -> None:
    text, findings = ported(
        port,
        """
        def slope(net: nn.Module, x: torch.Tensor, v: torch.Tensor):
            x.requires_grad_()
            hidden = net(x)
            y = hidden * 2
            return torch.autograd.grad([y], [x], [v])[0], hidden
        """,
    )
    assert not findings
    assert "return (y * v).sum(), hidden, -hidden" in text
    assert "(_, hidden, _), x_grads = helpers.with_gradients(outputs_of, (x,), (v,))" in text


def test_backward_for_the_gradient_of_an_input(port) -> None:
    text, findings = ported(
        port,
        """
        def attack(model: nn.Module, x: torch.Tensor, y: torch.Tensor, steps: int):
            adv = x.clone()
            for _ in range(steps):
                adv = adv.detach()
                adv.requires_grad = True
                loss = F.cross_entropy(model(adv), y)
                model.zero_grad()
                loss.backward()
                adv = adv + 0.1 * adv.grad.data.sign()
            return adv
        """,
    )
    assert not findings
    assert "adv = adv + 0.1 * ops.stop_gradient(adv_grads[0]).sign()" in text
    assert "backward" not in text and "requires_grad" not in text


def test_gradients_that_a_step_would_see_are_reported(port) -> None:
    source = """
        def attack(model: nn.Module, x: torch.Tensor, y: torch.Tensor):
            x.requires_grad_()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return x + x.grad.sign()

        def train(model: nn.Module, opt: torch.optim.SGD, x: torch.Tensor, y: torch.Tensor):
            model.train()
            {first}
            adv = attack(model, x, y)
            {second}
            loss = F.cross_entropy(model(adv), y)
            loss.backward()
            opt.step()
        """
    text, findings = ported(port, source.format(first="pass", second="opt.zero_grad()"))
    assert not findings and "helpers.with_gradients" in text
    _, findings = ported(port, source.format(first="opt.zero_grad()", second="pass"))
    assert [f.code for f in findings] == ["MS408"]


@pytest.mark.parametrize(
    "body",
    [
        # computed elsewhere
        "return autograd.grad(pred.sum(), x, create_graph=True)[0]",
        # parameters are the optimizer's
        "return autograd.grad(net(x).sum(), net.parameters(), create_graph=True)",
    ],
)
def test_what_is_no_function_of_the_input_is_reported(port, body: str) -> None:
    text, findings = ported(port, f"def f(net: nn.Module, x: torch.Tensor, pred):\n    {body}\n")
    assert [f.api for f in findings] == ["torch.autograd.grad"]
    assert "with_gradients" not in text


@pytest.mark.parametrize(
    "call",
    [
        # None where nothing depends on it
        "autograd.grad(y, x, torch.ones_like(y), allow_unused=True)",
        "autograd.grad(y.sum(), [x, x])",
        "autograd.grad(y.sum(), net.parameters())",
    ],
)
def test_what_no_function_gives_is_recorded(port, call: str) -> None:
    before = f"def f(net: nn.Module, x: torch.Tensor):\n    y = net(x)\n    return {call}\n"
    text, findings = ported(port, before)
    assert "helpers.recorded_grad(y" in text
    assert ["recorded while" in f.message for f in findings] == [True]


def test_an_input_that_depends_on_another_is_recorded(port) -> None:
    before = """
        def f(x: torch.Tensor):
            h = x * 2
            h.sum().backward()
            return h.grad, x.grad
        """
    text, _ = ported(port, before)
    assert "helpers.backward(h.sum())" in text and "return h.grad, x.grad" in text


def test_ones_of_the_programs_own_are_whatever_they_give(port) -> None:
    """Only torch's ones leave gradients as they are: a function may have the same name."""
    text = """
        import torch

        def ones(n):
            return torch.full((n, 1), 2.0)

        def slope(net, x):
            x.requires_grad_(True)
            d = net(x)
            return torch.autograd.grad(d, x, grad_outputs=ones(d.size(0)))[0]
    """
    assert "(d * ones(d.shape[0])).sum()" in port(textwrap.dedent(text)).text
