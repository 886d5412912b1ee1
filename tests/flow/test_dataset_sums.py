"""Sums of a file that may be sums of datasets, and those that are of something else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate.flow.dataset_sums import may_add_datasets
from migrate.project import discover
from migrate.resolve import resolve_project
from migrate.resolve.values import UNKNOWN
from migrate.table import Table

MAPPINGS = Path(__file__).resolve().parents[2] / "mappings"


def answer(folder: Path, *lines: str) -> bool:
    file = folder / "file.py"
    head = "import operator, torch\nimport numpy as np\nfrom torch import nn\n"
    file.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    (resolution,) = resolve_project(discover([file]), Table(MAPPINGS))
    assert resolution.scope is not None
    types = resolution.types
    return may_add_datasets(resolution.scope.tree, lambda node: types.get(node, UNKNOWN))


@pytest.mark.parametrize(
    "line",
    [
        "def join(a, b):\n    return a + b",
        "def join(a, b):\n    a += b\n    return a",
        "def join(parts, first):\n    return sum(parts, first)",
        "def join(a, b):\n    return operator.add(a, b)",
        "from functools import reduce\ndef join(parts):\n    return reduce(operator.add, parts)",
        "from torchvision.datasets import CIFAR10\nboth = CIFAR10('a') + CIFAR10('b')",
        "def join(a, b, n):\n    c = a if n else b\n    return c + b",
        "def join(a):\n    c = np.load('data.npy')\n    return c + a",
    ],
)
def test_sums_that_may_be_of_datasets(tmp_path: Path, line: str) -> None:
    assert answer(tmp_path, line)


@pytest.mark.parametrize(
    "line",
    [
        "def count(n):\n    return n + 1",
        "def shift(x, y):\n    return 2 * x + y",
        "class Net(nn.Module):\n    def forward(self, x):\n        return x + self.fc(x)",
        "def total(x):\n    offset = np.eye(3) * 2\n    return x + offset",
        "def seed(base, rank):\n    np.random.seed(base + rank)",
        "def layer(inputs, outputs):\n    return nn.Linear(inputs + outputs, 2)",
        "def names(x):\n    return x + ['a'] + x",
        "def fold(x, y):\n    torch.add(x, y)\n    return sum(x)",
    ],
)
def test_sums_of_something_else(tmp_path: Path, line: str) -> None:
    assert not answer(tmp_path, line)


def test_without_types_what_is_written_decides() -> None:
    assert may_add_datasets(ast.parse("c = a + b"))
    assert not may_add_datasets(ast.parse("c = a + 'b'"))
