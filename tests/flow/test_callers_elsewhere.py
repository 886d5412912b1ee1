"""Whether what other files pass for an argument carries a gradient."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate.flow import Flow
from migrate.flow.gradient import BY_LAYER
from migrate.project import discover
from migrate.resolve import Resolver
from migrate.table import Table

ENGINE = "def update(out, y):\n    return (out - y).sum()\n"
TRAIN = """\
import torch
from torch import nn
from engine import update

def run(x, y):
    net = nn.Linear(3, 2)
    {call}
"""


@pytest.mark.parametrize(
    ("call", "by_layer"),
    [
        ("update(net(x), y)", True),
        ("out = torch.relu(net(x)); update(out, y)", True),
        ("update(y=y, out=net(x))", True),
        ("update(net(x).detach(), y)", False),
        ("update(torch.zeros(3), y)", False),
        ("print(update)", False),
    ],
)
def test_an_argument_of_another_file(tmp_path: Path, call: str, by_layer: bool) -> None:
    (tmp_path / "engine.py").write_text(ENGINE)
    (tmp_path / "train.py").write_text(TRAIN.format(call=call))
    project = discover([tmp_path])
    resolver = Resolver(project, Table())
    source = next(file for file in project.files if file.module == "engine")
    flow = Flow(resolver.file(source), resolver.modules, resolver.interpreter)
    function = next(node for node in flow.tree.body if isinstance(node, ast.FunctionDef))
    assert (flow.callers_elsewhere.carries(function, "out") == BY_LAYER) is by_layer


BLOCKS = """\
from torch import nn

class Block(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.act = act

def apply(act):
    return act
"""
CALLERS = {
    "direct": "from blocks import Block\nb = Block(1)\n",
    "renamed": "from blocks import Block as B\nb = B(2)\n",
    "derived": "from blocks import Block\nclass Thin(Block):\n    pass\nMake = Thin\n",
    "by_derived": "import blocks\nfrom derived import Thin\nt = Thin(3)\n",
    "by_value": "import blocks\nfrom derived import Make\nm = Make(4)\n",
    "other": "from blocks import apply\napply(5)\n",
}


def test_only_files_that_can_call_a_function_are_resolved(tmp_path: Path) -> None:
    """A file that names neither the class nor one that derives from it, under any name."""
    (tmp_path / "blocks.py").write_text(BLOCKS)
    for name, text in CALLERS.items():
        (tmp_path / f"{name}.py").write_text(text)
    project = discover([tmp_path])
    resolver = Resolver(project, Table())
    source = next(file for file in project.files if file.module == "blocks")
    flow = Flow(resolver.file(source), resolver.modules, resolver.interpreter)
    cls = next(node for node in flow.tree.body if isinstance(node, ast.ClassDef))
    given = flow.callers_elsewhere.given(cls.body[0], "act")
    assert sorted(ast.unparse(node) for _, node in given if node) == ["1", "2", "3", "4"]
    looked_at = {source.module for source in flow.callers_elsewhere._files}
    assert looked_at == CALLERS.keys() - {"other"}
