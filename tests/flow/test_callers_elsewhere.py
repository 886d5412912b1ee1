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
