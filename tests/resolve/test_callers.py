"""What a function computes for one caller says nothing of another that gives it something else."""

from __future__ import annotations

from migrate.analyze import collect
from migrate.analyze.collect import analyse
from migrate.analyze.model import Options
from migrate.port.file import port_file
from migrate.project import discover
from migrate.resolve import Resolver, callers
from migrate.resolve.interpreter import Interpreter
from migrate.table import Table
from tests.resolve.test_numpy_results import ported_file


def test_numpy_for_one_and_tensors_for_another(tmp_path) -> None:
    source = """
import numpy as np
import torch


def spread(x):
    return x.std(0)


print(spread(np.ones((2, 2))), spread(torch.ones(2, 2)))
"""
    result = ported_file(tmp_path, source)
    assert [finding.code for finding in result.findings] == ["MS310"]
    alone = ported_file(tmp_path, source.replace("np.ones((2, 2))", "torch.ones(3, 3)"))
    assert not alone.findings and "helpers.std(x, 0)" in alone.text


def test_another_network_gives_its_own(tmp_path) -> None:
    source = """
import torch
from torch import nn


class Pair(nn.Module):
    def forward(self, x):
        return x.max(dim=1)


class One(nn.Module):
    def forward(self, x):
        return x * 2


def call(net, x):
    return net(x)


pair = call(Pair(), torch.ones(2, 3))
print(pair.values)
one = call(One(), torch.ones(2, 3))
print(one.max(1).indices)
"""
    result = ported_file(tmp_path, source)
    assert "print(pair[0])" in result.text
    assert "one[1]" not in result.text
    assert [finding.code for finding in result.findings] == ["MS307"]


def test_what_was_recorded_outlives_the_trees(tmp_path, monkeypatch) -> None:
    """With no room for any module the answers are the same, and no file is read a third time."""
    (tmp_path / "metrics.py").write_text(
        "def rate(out, y):\n    return out.argmax(1).eq(y).size()\n"
    )
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.py").write_text(
            f"import torch\nfrom metrics import rate\n\nprint(rate(torch.ones(2), 1), {name!r})\n"
        )
    project, looks = discover([tmp_path]), []
    run = Interpreter.run
    monkeypatch.setattr(
        Interpreter, "run", lambda self, scope: looks.append(scope.source) or run(self, scope)
    )
    wide = list(analyse(project, Table(), Options(), 1))
    assert len(looks) == 4
    monkeypatch.setattr(collect, "_LINES_REMEMBERED", 0)
    monkeypatch.setattr(callers, "_LINES_WAITING", 0)
    looks.clear()
    assert list(analyse(project, Table(), Options(), 1)) == wide
    assert max(map(looks.count, project.files)) == 2


def test_importers_that_do_not_spell_a_function_are_not_asked(tmp_path) -> None:
    (tmp_path / "metrics.py").write_text("def rate(out):\n    return out.size()\n")
    (tmp_path / "other.py").write_text("import metrics\n")
    (tmp_path / "train.py").write_text("import metrics\n\nmetrics.rate(1)\n")
    project = discover([tmp_path])
    (metrics,) = (file for file in project.files if file.module == "metrics")
    resolver = Resolver(project, Table())
    resolver.file(metrics)
    asked = {path.rpartition("/")[2] for path, _ in resolver.recorded}
    assert asked == {"metrics.py", "train.py"}


def test_a_network_in_a_container_is_known_in_other_files(tmp_path) -> None:
    """`build()` gives an nn.Sequential: what another file makes of it is a module."""
    (tmp_path / "ema.py").write_text(
        "from copy import deepcopy\n\n\nclass Averaged:\n    def __init__(self, model):\n"
        "        self.ema = deepcopy(model).eval()\n"
    )
    (tmp_path / "train.py").write_text(
        "from torch import nn\nfrom ema import Averaged\n\n\ndef build():\n"
        "    return nn.Sequential(nn.Linear(2, 2))\n\n\nmodel = build()\nmean = Averaged(model)\n"
    )
    project = discover([tmp_path])
    (source,) = (file for file in project.files if file.module == "ema")
    result = port_file(Resolver(project, Table()), source, helper_import="import helpers")
    assert not result.findings
    assert "deepcopy(model)" in result.text and ".eval()" not in result.text
