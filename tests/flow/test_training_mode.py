"""Is this module in training mode here? Yes, no or unknown, with who decides it."""

from __future__ import annotations

import pytest

HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(x)


"""


def _at(program, body: str, model: str = "net", name: str = "f"):
    p = program(HEAD + body)
    home = p.function(name).node
    (use,) = p.flow.modes.uses(model, home)
    return p.flow.modes.at(model, home, use), p.flow.modes.sources(model, home, use)


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ("pass", "yes"),
        ("net.train()", "yes"),
        ("net.eval()", "no"),
        ("net.train(False)", "no"),
        ("net = net.to('cpu')", "yes"),
        ("if flag:\n        net.eval()", "unknown"),
        ("if flag:\n        net.eval()\n    else:\n        net.train()", "unknown"),
        ("if flag:\n        net.eval()\n    else:\n        net.eval()", "no"),
    ],
)
def test_the_mode_of_a_model_that_is_built_here(program, lines, answer) -> None:
    verdict, _ = _at(program, f"def f(x, flag):\n    net = Net()\n    {lines}\n    return net(x)\n")
    assert verdict.answer.value == answer, verdict.reason


def test_a_mode_that_is_set_on_one_way_leaves_the_other_as_built(program) -> None:
    body = "def f(x, flag):\n    net = Net()\n    if flag:\n        net.eval()\n    return net(x)\n"
    _, sources = _at(program, body)
    assert [name for _, name in sources.built] == ["net"]


def test_the_mode_of_an_argument_is_that_of_the_callers(program) -> None:
    body = """\
def main(x):
    made = Net()
    return f(made, x)


def f(net, x):
    return net(x)
"""
    verdict, sources = _at(program, body)
    assert verdict.yes
    assert [name for _, name in sources.built] == ["made"]


def test_an_argument_that_nobody_passes_is_unknown(program) -> None:
    verdict, sources = _at(program, "def f(net: Net, x):\n    return net(x)\n")
    assert verdict.unknown
    assert list(sources.given) == ["net"]


def test_an_eval_behind_the_use_does_not_count(program) -> None:
    verdict, _ = _at(
        program, "def f(x):\n    net = Net()\n    y = net(x)\n    net.eval()\n    return y\n"
    )
    assert verdict.yes


def test_a_model_of_another_file_that_an_attribute_keeps_is_unclear(program) -> None:
    body = """\
class Trainer:
    def __init__(self, model):
        self.model = model.to("cpu")

    def f(self, x):
        return self.model(x)

    def evaluate(self, x):
        self.model.eval()
        y = self.model(x)
        self.model.train()
        return y
"""
    p = program(HEAD + body)
    home = p.function().node
    (use,) = p.flow.modes.uses("self.model", home)
    assert p.flow.modes.sources("self.model", home, use).unclear == ["self.model"]


def test_an_argument_has_its_own_name_whatever_callers_name_it(program) -> None:
    body = "def f(net, x):\n    return net(x)\n\n\ndef g(network, x):\n    return f(network, x)\n"
    _, sources = _at(program, body)
    assert list(sources.given) == ["net"]
