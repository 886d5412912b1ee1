"""Questions about classes are put to the helpers only where a variable may hold torch's layers."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from migrate.cli import main

HEAD = "import torch\nfrom torch import nn\n\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "KINDS = (nn.Conv2d, nn.Linear)\nprint(isinstance(thing, KINDS))",
            "print(helpers.is_instance(thing, KINDS))",
        ),
        (
            "def count(model: nn.Module, kinds):\n"
            "    return sum(isinstance(m, kinds) for m in model.modules())",
            "helpers.is_instance(m, kinds)",
        ),
        (
            "def kinds(model: nn.Module):\n    return {type(m) for m in model.children()}",
            "{helpers.torch_class(m) for m in",
        ),
        (
            "def names(net: nn.Module):\n    return [m.__class__.__name__ for m in net.children()]",
            "helpers.torch_class_name(m.__class__)",
        ),
        (
            "KINDS = {nn.Conv2d}\nprint(thing.__class__ in KINDS)",
            "print(helpers.torch_class(thing) in KINDS)",
        ),
        ("print(isinstance(m, KINDS + (nn.Linear,)))", "print(helpers.is_instance(m, KINDS +"),
    ],
)
def test_a_variable_that_holds_layers_is_asked_through_the_helpers(port, before, after) -> None:
    assert after in port(HEAD + before).text


@pytest.mark.parametrize(
    "line",
    [
        "print(isinstance(thing, (str, bytes)))",
        "print(isinstance(thing, WORDS), type(thing), thing.__class__.__name__)",
        "print(type(thing) in WORDS, type(thing).__name__)",
        "print(isinstance(net, Net), type(net) == Net, type(net).__name__, isinstance(net, OWN))",
        "net.__class__ = Net",
    ],
)
def test_other_questions_stay_python_s(port, line) -> None:
    own = "class Net(nn.Module):\n    pass\n\n\nWORDS = (str, bytes)\nOWN = (Net,)\nnet = Net()\n"
    assert line in port(HEAD + own + line + "\n").text


def test_one_helper_module_for_all_that_is_imported_from_one_directory(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in ("one", "two"):
        (source / name).mkdir(parents=True)
        (source / name / "__init__.py").write_text("")
        text = "from torch import nn\n\n\nlayer = nn.Upsample(scale_factor=2)\n"
        (source / name / "net.py").write_text(text)
    (source / "tool.py").write_text("from torch import nn\n\nprint(nn.Upsample(scale_factor=2))\n")
    assert main(["port", str(source), "-o", str(tmp_path / "out"), "--quiet"]) == 0
    found = {str(path.relative_to(tmp_path / "out")) for path in tmp_path.glob("out/**/*.py")}
    assert {name for name in found if "helpers" in name} == {"ms_migrate_helpers.py"}
    ported = (tmp_path / "out" / "two" / "net.py").read_text()
    assert "\nimport ms_migrate_helpers as helpers\n" in f"\n{ported}"


@pytest.mark.parametrize(
    ("name", "text"),
    [("setup.py", "from setuptools import setup\n"), ("pyproject.toml", "[project]\nname = 'a'\n")],
)
def test_a_package_that_is_installed_brings_its_own_helpers(tmp_path: Path, name, text) -> None:
    source = tmp_path / "source"
    (source / "package").mkdir(parents=True)
    (source / name).write_text(text)
    (source / "package" / "__init__.py").write_text("")
    layer = textwrap.dedent("""\
        from torch import nn

        layer = nn.Upsample(scale_factor=2)
    """)
    (source / "package" / "net.py").write_text(layer)
    (source / "train.py").write_text(layer)
    assert main(["port", str(source), "-o", str(tmp_path / "out"), "--quiet"]) == 0
    assert (tmp_path / "out" / "package" / "ms_migrate_helpers.py").is_file()
    assert "from . import ms_migrate_helpers" in (tmp_path / "out/package/net.py").read_text()
