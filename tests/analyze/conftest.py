"""A small table of known rows, so that these tests do not move with the real one."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate.analyze.collect import analyse
from migrate.analyze.model import Analysis, Options
from migrate.analyze.summary import summarise
from migrate.project import discover
from migrate.table import Table

TORCH = """
[defaults]
kind = "function"
returns = "Tensor"
refuse = { out = "write the result to a new name" }
[[family]]
names = ["flatten", "relu", "cat"]
torch = "torch.{name}"
params = "input, dim=0, *, out=None"
mindspore = "mindspore.ops.{name}"
[[api]]
torch = "torch.geqrf"
params = "input"
note = "no such kernel"
way = "use mindspore.ops.qr"
[[api]]
torch = "torch.histc"
params = "input, bins=100"
mindspore = "mindspore.ops.histc"
status = "risky"
note = "bins differ at the edges"
[[api]]
torch = "torch.sparse_only"
params = "input"
mindspore = "mindspore.ops.sparse_only"
platforms = ["CPU", "GPU"]
[[api]]
torch = "torch.eager_only"
params = "input"
mindspore = "mindspore.ops.eager_only"
modes = ["pynative"]
[[api]]
torch = "torch.max"
params = "input"
mindspore = "mindspore.ops.max"
[[api.overload]]
params = "input"
[[api.overload]]
params = "input, dim: int"
emit = "ops.max({input}, axis={dim})"
[[api.overload]]
params = "input, other: Tensor"
mindspore = "mindspore.ops.maximum"
[[api]]
torch = "torch.single"
params = "input, mode='a'"
mindspore = "mindspore.ops.single"
values = { mode = { "'a'" = "'a'" } }
[[api]]
torch = "torch.resized"
params = "input, mode='a'"
mindspore = "mindspore.ops.resized"
helper = "resized"
rules = ["some_rule"]
values = { mode = { "'a'" = "'a'" } }
[[api]]
torch = "torch.twofold"
[[api.overload]]
params = "input, mode='a'"
mindspore = "mindspore.ops.twofold"
values = { mode = { "'a'" = "'a'" } }
[[api.overload]]
params = "input, mode='a'"
helper = "twofold"
"""

NN = """
[defaults]
kind = "class"
[[api]]
torch = "torch.nn.Module"
mindspore = "mindspore.nn.Cell"
[[api]]
torch = "torch.nn.Conv2d"
params = "in_channels, out_channels, kernel_size, stride=1, padding=0, padding_mode='zeros'"
mindspore = "mindspore.nn.Conv2d"
pin = { pad_mode = "'pad'" }
refuse = { padding_mode = "MindSpore pads with zeros only" }
[[api]]
torch = "torch.nn.GELU"
params = "approximate='none'"
mindspore = "mindspore.nn.GELU"
values = { approximate = { "'none'" = "False", "'tanh'" = "True" } }
[[api]]
torch = "torch.nn.ReLU"
params = "inplace=False"
mindspore = "mindspore.nn.ReLU"
drop = ["inplace"]
[[api]]
torch = "torch.nn.AdaptiveAvgPool2d"
params = "output_size"
helper = "AdaptiveAvgPool2d"
[[api]]
torch = "torch.nn.Module.register_forward_hook"
kind = "method"
params = "hook"
mindspore = "mindspore.nn.Cell.register_forward_hook"
status = "risky"
feature = "hook"
note = "side effects are lost in Graph mode"
"""

TENSOR = """
[defaults]
kind = "method"
returns = "Tensor"
[[family]]
names = ["view", "sum", "mul", "any"]
torch = "torch.Tensor.{name}"
params = "*args"
mindspore = "mindspore.Tensor.{name}"
[[api]]
torch = "torch.Tensor.add_"
params = "other"
emit = "{self} + {other}"
inplace = true
[[api]]
torch = "torch.Tensor"
kind = "class"
mindspore = "mindspore.Tensor"
"""

OPTIM = """
[defaults]
kind = "class"
feature = "optimizer"
[[api]]
torch = "torch.optim.SGD"
params = "params, lr=0.001"
mindspore = "mindspore.experimental.optim.SGD"
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setenv("MS_MIGRATE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "mappings"
    folder.mkdir()
    for name, text in (("torch", TORCH), ("torch.nn", NN), ("torch.Tensor", TENSOR)):
        (folder / f"{name}.toml").write_text(text)
    (folder / "torch.optim.toml").write_text(OPTIM)
    return Table(folder)


@pytest.fixture
def analysed(tmp_path: Path, table: Table) -> Callable[..., Analysis]:
    """Give `analysed(source, device=..., mode=...)`: the analysis of one file called code.py."""

    def run(source: str, jobs: int = 1, **options: str) -> Analysis:
        folder = tmp_path / "program"
        folder.mkdir(exist_ok=True)
        (folder / "code.py").write_text(textwrap.dedent(source))
        wanted = Options(**options)
        project = discover([folder])
        return summarise(analyse(project, table, wanted, jobs), project.skipped, table, wanted)

    return run
