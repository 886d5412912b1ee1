"""What functions and layers do to their arguments, across files."""

from __future__ import annotations

import ast

import pytest

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def effects(program, source: str, call: str, **beside: str) -> tuple[list, list]:
    p = program(HEAD + source, **beside)
    node = p.expression(call)
    assert isinstance(node, ast.Call)
    found = p.flow.effects.of_call(node)
    return (
        [(ast.unparse(a), v.answer.value, how) for a, v, how in found.mutated],
        [(ast.unparse(a), relation) for a, relation in found.returns],
    )


MODULE = """\
class Net(nn.Module):
    def __init__(self, flag=False):
        super().__init__()
        {init}

    def forward(self, x):
        y = self.block(x)
        return y + x
"""


@pytest.mark.parametrize(
    ("init", "mutated", "returned"),
    [
        ("self.block = nn.ReLU(inplace=True)", ("yes", "relu"), "same"),
        ("self.block = nn.ReLU(True)", ("yes", "relu"), "same"),
        ("self.block = nn.ReLU()", None, None),
        ("self.block = nn.ReLU(inplace=flag)", ("unknown", "relu"), "maybe"),
        ("self.block = nn.Sequential(nn.ReLU(inplace=True), nn.Conv2d(3, 3, 1))",
         ("yes", "relu"), None),
        ("self.block = nn.Sequential(nn.Conv2d(3, 3, 1), nn.ReLU(inplace=True))", None, None),
        ("self.block = nn.Sequential(nn.Identity(), nn.ReLU(True))", ("yes", "relu"), "same"),
        ("self.block = nn.Sequential(nn.Sequential(nn.ReLU6(True)), nn.Linear(3, 3))",
         ("yes", "relu6"), None),
        ("self.block = nn.Sequential(nn.Flatten(), nn.ReLU(True))", ("yes", ""), "view"),
        ("act = nn.ReLU(inplace=True); self.block = nn.Sequential(act, nn.Linear(3, 3))",
         ("yes", "relu"), None),
        ("layers = [nn.ReLU(True)]; layers.append(nn.Linear(3, 3));"
         " self.block = nn.Sequential(*layers)", ("yes", "relu"), None),
        ("layers = [nn.ReLU(True)]; layers[0] = nn.ReLU();"
         " self.block = nn.Sequential(*layers)", None, None),
        ("layers = [nn.ReLU(True), nn.Linear(3, 3)]; layers = layers[1:];"
         " self.block = nn.Sequential(*layers)", None, None),
        ("self.block = nn.ReLU(True) if flag else nn.GELU()", ("unknown", ""), "maybe"),
        ("self.add_module('block', nn.ReLU(True))", ("yes", "relu"), "same"),
    ],
)  # fmt: skip
def test_layers(program, init, mutated, returned):
    mutations, returns = effects(program, MODULE.format(init=init), "self.block(x)")
    assert mutations == ([("x", *mutated)] if mutated else [])
    assert returns == ([("x", returned)] if returned else [])


@pytest.mark.parametrize(
    ("body", "mutated", "returned"),
    [
        ("t.mul_(2)\n    return t", "yes", "same"),
        ("t += 1\n    return t * 2", "yes", None),
        ("t = t.clone()\n    t.mul_(2)\n    return t", None, None),
        ("v = t.view(-1)\n    v.mul_(2)", "yes", None),
        ("return F.relu(t, inplace=True)", "yes", "same"),
        ("return t.view(-1)", None, "view"),
        ("return inner(t)", "yes", "same"),
        ("torch.add(t, 1, out=t)", "yes", None),
        ("if t.sum() > 0:\n        t.mul_(2)\n    return t", "yes", "same"),
    ],
)
def test_functions(program, body, mutated, returned):
    inner = "def inner(s):\n    s.add_(1)\n    return s\n\n\n"
    source = f"{inner}def g(t):\n    {body}\n\n\ny = g(q)\n"
    mutations, returns = effects(program, source, "g(q)")
    assert [m[:2] for m in mutations] == ([("q", mutated)] if mutated else [])
    assert returns == ([("q", returned)] if returned else [])


def test_effects_cross_files(program):
    beside = "import torch.nn.functional as F\n\n\ndef head(t):\n    F.relu_(t)\n    return t + 1\n"
    source = "from lib import head\n\n\ndef f(x):\n    return head(x) + x\n"
    assert effects(program, source, "head(x)", lib=beside) == ([("x", "yes", "relu")], [])


def test_a_user_block_that_changes_its_input(program):
    source = """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(3, 3, 1)

    def forward(self, x):
        return self.conv(self.relu(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x) + x
"""
    assert effects(program, source, "self.block(x)") == ([("x", "yes", "relu")], [])


def test_summary_of_self(program):
    source = """\
class Ema(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        self.mean.mul_(0.9).add_(x)
        self.last = x
        return x
"""
    p = program(HEAD + source)
    cls = p.flow.symbols.scope.classes[0]
    summary = p.flow.effects.summary(cls.body["forward"])
    assert summary.self_writes == {"mean", "last"}
    assert summary.stores == {"x"}


def test_the_call_graph_crosses_files(program):
    p = program(
        HEAD + "from lib import helper\n\n\ndef f(x):\n    return helper(x)\n",
        lib="def helper(x):\n    return deeper(x)\n\n\ndef deeper(x):\n    return x\n",
    )
    root = next(f for f in p.flow.symbols.scope.functions if f.qualified == "f")
    names = {function.qualified for function in p.flow.calls.reachable([root])}
    assert names == {"f", "helper", "deeper"}


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("torch.zeros(3)", "no"),
        ("torch.zeros(3, requires_grad=True)", "yes"),
        ("nn.Linear(3, 3)(torch.ones(3))", "yes"),
        ("nn.Linear(3, 3)(torch.ones(3)).detach()", "no"),
        ("torch.arange(6).view(2, 3) * 2.0", "no"),
        ("(torch.rand(3) > 0.5).float()", "no"),
        ("unknown_thing()", "no"),
        ("unknown_thing(other)", "unknown"),
        ("double(torch.ones(3))", "no"),
    ],
)
def test_gradients(program, value, answer):
    source = f"def double(t):\n    return t * 2\n\n\nv = {value}\nprint(v)\n"
    p = program(HEAD + source)
    assert p.flow.gradient.carries(p.expression("v", last=True)).answer.value == answer


def test_no_grad_is_not_recorded(program):
    p = program(
        HEAD + "def f(m):\n    with torch.no_grad():\n        m.add_(1)\n    return m.sum()\n"
    )
    assert p.flow.gradient.is_recorded(p.expression("m.add_(1)")).no
    assert p.flow.gradient.is_recorded(p.expression("m.sum()")).unknown
