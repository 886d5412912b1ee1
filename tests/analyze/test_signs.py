"""What the code does beside calling APIs: in-place changes, and what Graph mode cannot compile."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from migrate.analyze.model import Analysis

Analysed = Callable[..., Analysis]


def forward(body: str, outside: str = "") -> str:
    lines = textwrap.indent(textwrap.dedent(body), "        ")
    return (
        "import torch, random, time\nimport numpy as np\n"
        "from torch import nn\nfrom collections import defaultdict\n"
        f"class Net(nn.Module):\n    def forward(self, x):\n{lines}\n{outside}\n"
    )


def signs(analysis: Analysis, feature: str) -> dict[str, int]:
    return next((row.members for row in analysis.features if row.name == feature), {})


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("x.add_(1)", "add_()"),
        ("x += 1", "x += y"),
        ("x[0] = 1", "x[...] = y"),
        ("torch.relu_(x)", "relu_()"),
        ("nn.ReLU(inplace=True)(x)", "inplace=True"),
    ],
)
def test_in_place_changes(analysed: Analysed, line: str, what: str) -> None:
    assert signs(analysed(forward(line)), "in-place") == {what: 1}


@pytest.mark.parametrize(
    "line",
    [
        "n = 0; n += 1",
        "d = {}; d['a'] = x",
        "l = 0; l += x",
        "nn.ReLU(inplace=False)(x)",
        "x = x + 1",
    ],
)
def test_what_is_no_in_place_change(analysed: Analysed, line: str) -> None:
    assert signs(analysed(forward(line)), "in-place") == {}


def test_in_place_changes_ask_for_nothing(analysed: Analysed) -> None:
    assert not analysed(forward("x += 1\nreturn x")).must_act


REFUSED = {
    "try": "try:\n    x = x\nexcept ValueError:\n    pass",
    "with": "with open('x'):\n    pass",
    "inner class": "class A: pass",
    "inner import": "import math",
    "yield": "yield x",
    "match": "match 1:\n    case 1: pass",
    "defaultdict": "from_keys = defaultdict(list)",
    "random.random()": "r = random.random()",
    "numpy.random.rand()": "r = np.random.rand(2)",
    "time.time()": "r = time.time()",
    "range(tensor)": "for i in range(x.sum()): pass",
    "nonlocal": "n = 1\ndef f():\n    nonlocal n\nf()",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_graph_mode_does_not_compile(analysed: Analysed, what: str) -> None:
    source = forward(REFUSED[what])
    analysis = analysed(source)
    assert signs(analysis, "control flow") == {what: 1}
    assert analysis.must_act
    assert all(action.mode == "graph" for action in analysis.actions)
    assert signs(analysed(source, mode="pynative"), "control flow") == {}


REWRITTEN = {
    "del": "y = x\ndel y",
    "walrus": "y = (z := x)",
    "set": "s = {1, 2}",
    "for-else": "for i in (1, 2): pass\nelse: pass",
    "while-else": "while self.flag: pass\nelse: pass",
    "dict.pop()": "d = {'a': x}\nd.pop('a')",
}


@pytest.mark.parametrize("what", REWRITTEN)
def test_what_port_writes_in_another_form(analysed: Analysed, what: str) -> None:
    analysis = analysed(forward(REWRITTEN[what]))
    assert signs(analysis, "control flow") == {what: 1}
    assert not analysis.must_act


COMPILES = [
    "assert x.shape[0] == 2, f'bad {x.shape}'",
    "y = [x + i for i in range(3) if i]",
    "y = []\ny.append(x)\ny.pop()",
    "if isinstance(x, torch.Tensor): pass",
    "f = lambda v: v + 1",
    "def inner(v): return v\ny = inner(x)",
    "if x.shape[0] > 1: raise ValueError('bad')",
    "n = int(x.sum())",
    "for i in range(3):\n    if i == 2: break",
    "d = {'a': x}\nd['b'] = d['a']",
    "s = {'a': 1}",
    "if self.training: x = x",
    "for i in range(int(x.sum())): pass",
    "if x.any():\n    return None",
    "y = np.ones(3)",
]


@pytest.mark.parametrize("body", COMPILES)
def test_what_compiles_is_not_reported(analysed: Analysed, body: str) -> None:
    found = signs(analysed(forward(body)), "control flow")
    assert set(found) <= {"if on a tensor"}
    assert graph_messages(analysed(forward(body))) == []


def graph_messages(analysis: Analysis) -> list[str]:
    return [action.why for action in analysis.actions if action.mode == "graph"]


def test_branch_on_a_tensor_is_noted_and_judged(analysed: Analysed) -> None:
    fine = analysed(forward("if x.sum() > 0:\n    x = x + 1\nreturn x"))
    assert signs(fine, "control flow") == {"if on a tensor": 1}
    assert not fine.must_act
    half = analysed(forward("if x.sum() > 0:\n    y = x\nreturn y"))
    assert graph_messages(half) == ["if on a tensor: y is bound on one side only"]
    unequal = analysed(forward("if x.any():\n    return x, x\nreturn x"))
    assert graph_messages(unequal) == [
        "if on a tensor: it returns 2 values on one side and a tensor on the other"
    ]
    grows = analysed(forward("while x.sum() < 3:\n    x = torch.cat((x, x))\nreturn x"))
    assert "may change its shape" in graph_messages(grows)[0]


def test_half_bound_name_that_nobody_reads_is_fine(analysed: Analysed) -> None:
    body = "if x.sum() > 0:\n    t = x\n    y = t\nelse:\n    y = x\nreturn y"
    assert graph_messages(analysed(forward(body))) == []


def test_python_conditions_are_no_branches_on_tensors(analysed: Analysed) -> None:
    body = "if x is None or self.flag:\n    return x\nreturn x"
    assert signs(analysed(forward(body)), "control flow") == {}


def test_only_what_forward_reaches_is_compiled(analysed: Analysed) -> None:
    outside = """
    def called(self, x):
        import math
        return helper(x)

    def never(self, x):
        import math

def helper(x):
    import os
    return x

def idle():
    import sys
"""
    analysis = analysed(forward("return self.called(x)", outside))
    (action,) = [a for a in analysis.actions if a.mode == "graph"]
    assert [place.scope for place in action.places] == ["Net.called", "helper"]


def test_construction_is_not_compiled(analysed: Analysed) -> None:
    source = """
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                try:
                    import fast
                except ImportError:
                    fast = None
            def forward(self, x):
                return x
    """
    assert signs(analysed(source), "control flow") == {}


def test_subclass_of_a_project_module_is_compiled(analysed: Analysed) -> None:
    source = """
        from torch import nn
        class Base(nn.Module): ...
        class Net(Base):
            def forward(self, x):
                del x
    """
    assert signs(analysed(source), "control flow") == {"del": 1}


def test_classes_that_are_no_modules_are_not_compiled(analysed: Analysed) -> None:
    source = """
        import torch
        class Reader:
            def forward(self, x):
                with open(x) as f:
                    return torch.relu(f)
    """
    assert signs(analysed(source), "control flow") == {}


def test_changes_that_nobody_sees_are_reported(analysed: Analysed) -> None:
    source = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.kept = []
            self.fresh = []

        def collect(self, x, found: list):
            found.append(x)
            return x

        def forward(self, x):
            self.fresh = []
            self.fresh.append(x)
            self.kept.append(x)
            own = []
            own.append(x)
            return self.collect(x, own)
    """
    found = signs(analysed(source), "control flow")
    assert found == {"self.kept.append()": 1, "found.append()": 1}
