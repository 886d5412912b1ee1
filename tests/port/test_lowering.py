"""Lowering sees what is compiled, however the program is formatted and cut into files."""

from __future__ import annotations

from pathlib import Path

import pytest

MAIN = """\
import torch
from torch import nn
{0}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return split(self.fc(x))
"""
HELPER = """\
def split(y):
    rows, cols = [], []
    rows.append(y),cols.append(y * 2)
    rest = rows[0]
    del rest
    return rows[0] + cols[0]


def load(path):
    text = path.read()
    del path
    return text
"""
TRY = """\
try:
            y = self.fc(x)
        except RuntimeError:
            y = x
        return y"""
LOWERED = (
    "    rows.append(y)\n    cols.append(y * 2)\n    rest = rows[0]\n    return rows[0] + cols[0]\n"
)


def _ported(port_files, files: dict[str, str], name: str) -> str:
    tree = port_files({f"src/{path}": text for path, text in files.items()}, "src")
    return tree.files[Path(name)].text


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("from util import split", "util.py"),
        ("from util import split as split", "util.py"),
        ("from parts.util import split", "parts/util.py"),
    ],
)
def test_functions_of_other_files_are_lowered(port_files, line: str, path: str) -> None:
    text = _ported(port_files, {"main.py": MAIN.format(line), path: HELPER}, path)
    assert LOWERED in text
    assert "    del path\n" in text  # nothing compiled calls it


def test_a_module_that_is_imported_whole(port_files) -> None:
    main = MAIN.format("import util").replace("split(", "util.split(")
    assert LOWERED in _ported(port_files, {"main.py": main, "util.py": HELPER}, "util.py")


def test_a_name_that_is_exported_again(port_files) -> None:
    files = {
        "main.py": MAIN.format("from parts import split"),
        "parts/__init__.py": "from .util import split\n",
        "parts/util.py": HELPER,
    }
    assert LOWERED in _ported(port_files, files, "parts/util.py")


def test_one_file_or_two_makes_no_difference(port_files) -> None:
    merged = HELPER + MAIN.format("").replace("import torch\nfrom torch import nn\n", "")
    text = _ported(
        port_files, {"main.py": "import torch\nfrom torch import nn\n\n\n" + merged}, "main.py"
    )
    assert LOWERED in text


@pytest.mark.parametrize(
    "body",
    [
        "self.features=self.fc(x)\n        return self.features*2",
        "self.features = self.fc( x )\n        return (self.features * 2)",
        "self.features = (\n            self.fc(x)\n        )\n        return self.features * 2",
        "y = 1; self.features = self.fc(x)\n        return self.features * 2",
    ],
)
def test_formatting_makes_no_difference(port, body: str) -> None:
    text = port(MAIN.format("").replace("return split(self.fc(x))", body)).text
    assert "features=" in text.replace(" ", "").replace("self.features", "")
    assert "self.features = features\n" in text


def test_findings_stand_at_the_lines_of_the_source(port) -> None:
    body = "rows = []\n        rows.append(x), rows.append(x)\n        return torch.nope(x)"
    source = MAIN.format("").replace("return split(self.fc(x))", body)
    (finding,) = port(source).findings
    assert source.splitlines()[finding.line - 1].strip() == "return torch.nope(x)"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (TRY, "Graph mode does not compile try"),
        ("self.log.append(x)\n        return x", "self.log.append() is lost"),
        ("self.calls += 1\n        return x", "self.calls += 1 counts once"),
        (
            "self.features = self.fc(x)\n        return self.head()",
            "self.features is assigned",
        ),
    ],
)
def test_classes_that_cannot_be_compiled_say_why(port, body: str, reason: str) -> None:
    net = MAIN.format("").replace("return split(self.fc(x))", body)
    net = net.replace("Linear(4, 3)", "Linear(4, 3)\n        self.log = []\n        self.calls = 0")
    ported = port(net + "\n    def head(self):\n        return self.features\n")
    assert f'    not_compiled = "{reason}' in ported.text
    assert "watched_settings" in ported.helpers


def test_other_classes_do_not(port) -> None:
    body = "y = []\n        y.append(self.fc(x))\n        return y[0]"
    ported = port(MAIN.format("").replace("return split(self.fc(x))", body))
    assert "not_compiled" not in ported.text
