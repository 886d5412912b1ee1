"""How a side finds and builds its model: config objects, folders of its own, definitions only."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from migrate.cli import main
from migrate.errors import RequestError
from migrate.parity.request import loading
from migrate.parity.request.definitions import compile_definitions
from migrate.parity.workers import advice


@dataclass
class Head:
    classes: int = 2


@dataclass
class Config:
    width: int
    head: Head = field(default_factory=Head)


def from_dataclass(config: Config) -> Any:
    return config


def from_anything(args: Any) -> Any:
    return args


def test_a_config_becomes_the_class_that_the_model_declares() -> None:
    data = loading.read_config("width=8,head.classes=5")
    assert data == {"width": 8, "head": {"classes": 5}}
    assert loading.config_for(from_dataclass, data) == Config(8, Head(5))
    plain = loading.config_for(from_anything, data)
    assert plain.head.classes == plain["head"]["classes"] == 5
    assert {**plain}.keys() == {"width", "head"} and plain.get("depth", 3) == 3


def test_a_field_that_is_not_there_is_refused() -> None:
    with pytest.raises(RequestError, match="Config has no field 'depth'"):
        loading.config_for(from_dataclass, {"depth": 3})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.json", '{"width": 8}'),
        ("c.toml", "width = 8"),
        ("c.yaml", "width: 8"),
    ],
)
def test_a_config_is_read_from_a_file(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert loading.read_config(str(tmp_path / name)) == {"width": 8}
    (tmp_path / name).write_text("[1, 2")
    with pytest.raises(RequestError, match="cannot read this config"):
        loading.read_config(str(tmp_path / name))


SCRIPT = b'''"""A script."""
import argparse
from collections import namedtuple
try:
    import nonesuch
except ImportError:
    nonesuch = None
SIZES = tuple(range(3))
Point = namedtuple("Point", "x y")
args = argparse.ArgumentParser().parse_args(["--none"])


class Net:
    size = SIZES[-1]


for epoch in range(10):
    raise SystemExit("trains")
if __name__ == "__main__":
    raise SystemExit("runs")
'''


def test_definitions_run_without_the_rest_and_keep_their_lines() -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile_definitions(SCRIPT, "script.py"), names)
    assert names["Net"].size == 2 and names["Point"](1, 2).y == 2 and names["nonesuch"] is None
    assert "args" not in names


@pytest.mark.frameworks
def test_a_scripted_model_in_a_script_with_a_config_and_a_package_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "layers").mkdir(parents=True)
    (tmp_path / "elsewhere" / "layers" / "__init__.py").write_text("SCALE = 2.0\n")
    (tmp_path / "train.py").write_text(
        "import sys\n"
        "from dataclasses import dataclass\n"
        "import torch\n"
        "from layers import SCALE\n"
        "@dataclass\n"
        "class Config:\n"
        "    width: int\n"
        "class Net(torch.jit.ScriptModule):\n"
        "    def __init__(self, config: Config):\n"
        "        super().__init__()\n"
        "        self.fc = torch.nn.Linear(config.width, 2)\n"
        "    @torch.jit.script_method\n"
        "    def forward(self, x):\n"
        "        return self.fc(x) * 2.0\n"
        "sys.exit('this trains')\n"
    )
    step = tmp_path / "step"
    words = ["capture", "torch", f"{tmp_path / 'train.py'}:Net", "--input", "3,8", "-o", str(step)]
    words += ["--config", "width=8", "--definitions-only", "--noise-runs", "1", "--quiet"]
    assert main([*words, "--path", str(tmp_path / "elsewhere")]) == 0
    start = json.loads((step / "start.json").read_text())
    assert [module["path"] for module in start["structure"]] == ["", "fc"]


LAYERS = """\
from torch import nn

SCALE = 2.0


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return nn.functional.gelu(self.fc(x)) * SCALE
"""
TRAIN = """\
import argparse
from dataclasses import dataclass, field

from torch import nn

from layers import Mlp

args = argparse.ArgumentParser().parse_args(["--none"])


@dataclass
class Head:
    classes: int = 2


@dataclass
class Config:
    width: int
    depth: int = 1
    head: Head = field(default_factory=Head)


class Net(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.blocks = nn.ModuleList([Mlp(config.width) for _ in range(config.depth)])
        self.head = nn.Linear(config.width, config.head.classes)

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


raise SystemExit("this trains")
"""


@pytest.mark.frameworks
def test_both_sides_load_a_script_with_a_config_and_packages_of_one_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`layers` is a package of torch's side and one of MindSpore's; the scripts train on import."""
    before, after = tmp_path / "before", tmp_path / "after"
    (before / "layers").mkdir(parents=True)
    (before / "tools").mkdir()
    (before / "layers" / "__init__.py").write_text(LAYERS)
    (before / "tools" / "train.py").write_text(TRAIN)
    assert main(["port", str(before), "-o", str(after)]) == 0
    (tmp_path / "config.toml").write_text("width = 8\ndepth = 2\n[head]\nclasses = 5\n")
    words = ["parity", *(f"{side / 'tools' / 'train.py'}:Net" for side in (before, after))]
    words += ["--input", "4,8", "--classes", "5", "--config", str(tmp_path / "config.toml")]
    words += ["--definitions-only", "--torch-path", str(before), "--ms-path", str(after)]
    capsys.readouterr()
    assert main([*words, "--noise-runs", "2", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["mode"] for one in found["modes"]] == ["pynative", "graph"]
    names = {row["name"] for one in found["modes"] for row in one["stages"]["gradients"]}
    assert {"blocks.0.fc.weight", "blocks.1.fc.bias", "head.weight"} <= names


@pytest.mark.parametrize(
    ("error", "stage", "step"),
    [
        (
            TypeError("__init__() missing 1 required positional argument: 'c'"),
            "importing",
            "--config",
        ),
        (ModuleNotFoundError("layers"), "importing", "--torch-path"),
        (AttributeError("width"), "importing", "--definitions-only"),
        (RuntimeError("channels"), "running", "--input"),
    ],
)
def test_a_failure_in_user_code_names_the_option_to_try(
    error: Exception, stage: str, step: str
) -> None:
    stages = {
        "importing": "importing the model",
        "running": "running the model once, to see its output",
    }
    assert step in advice.next_step(error, str(error), stages[stage], definitions_only=False)
    assert not advice.next_step(AttributeError(), "", stages["importing"], definitions_only=True)
    assert not advice.next_step(error, str(error), "the step", definitions_only=False)


def test_targets_beyond_the_outputs_name_the_option() -> None:
    error = IndexError("Target 8 is out of bounds.")
    assert "--classes" in advice.next_step(
        error, str(error), "float64 step", definitions_only=False
    )
