"""A module that gave up its tree answers as before, and is not parsed as a whole again."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest

from migrate.project import discover
from migrate.resolve import Resolver, modules
from migrate.resolve.evict_bodies import restore
from migrate.resolve.module_index import Bound, index_module, read_binding
from migrate.table import Table

SOURCE = '''\
import torch as t
from torch import nn, ops as o

LIMIT = 3
first = second = (
    t.ones(1)  # in brackets
)
pair: tuple = "é", t.ones(2); after = 4

@t.no_grad()
@staticmethod
def plain(x):
    """Text that
starts at the margin."""
    return x

if LIMIT:
    class Net(nn.Module):
        async def method(self):
            return [1,
2]
else:
    Net = None

try:
    import numpy
except ImportError:
    numpy = None
'''


def _source(folder: Path, text: str = SOURCE) -> object:
    (folder / "code.py").write_text(text)
    return discover([folder]).files[0]


def test_each_row_leads_back_to_its_node(tmp_path: Path) -> None:
    source = _source(tmp_path)
    index, nodes = index_module(ast.parse(SOURCE), SOURCE)
    read = 0
    for row, node in zip(index.bindings, nodes, strict=True):
        if isinstance(row, Bound):
            again = read_binding(source, index, row)  # type: ignore[arg-type]
            assert again is not None
            for part in ast.walk(again):
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                    assert part.body == []  # read when a call leads there
                    restore(part, source)  # type: ignore[arg-type]
            assert ast.dump(again) == ast.dump(node), row.names
            read += 1
        else:
            assert ast.dump(row.statement()) == ast.dump(node)
    names = [row.names for row in index.bindings if isinstance(row, Bound)]
    assert read == 8 and ("first", "second") in names
    assert names.index(("Net",)) < len(names) - 1  # the first branch of the `if` has the last word
    defining = [row.defines for row in index.bindings if isinstance(row, Bound)]
    assert defining[[i for i, n in enumerate(names) if n == ("Net",)][-1]]


def test_a_file_that_changed_meanwhile_is_searched_by_name(tmp_path: Path) -> None:
    index, _ = index_module(ast.parse(SOURCE), SOURCE)
    source = _source(tmp_path, "import os\n\n\ndef plain(x):\n    return 7\n")
    rows = {row.names: row for row in index.bindings if isinstance(row, Bound)}
    plain = read_binding(source, index, rows[("plain",)])  # type: ignore[arg-type]
    assert isinstance(plain, ast.FunctionDef) and "7" in ast.unparse(plain)
    assert read_binding(source, index, rows[("LIMIT",)]) is None  # type: ignore[arg-type]


def _library(folder: Path, files: int) -> Path:
    """Files that all import one large module, of which each needs a little."""
    filler = "".join(f"def other_{n}(x):\n    return x + {n}\n\n\n" for n in range(200))
    (folder / "large.py").write_text(
        "import torch\n\n\ndef make(n):\n    return torch.zeros(n)\n\n\n"
        "class Base(torch.nn.Module):\n    def prepare(self, x):\n        return torch.relu(x)\n"
        f"\n\n{filler}__all__ = ['make', 'Base']\n"
    )
    for number in range(files):
        (folder / f"net_{number}.py").write_text(
            "from large import *\n\n\nclass Net(Base):\n    def forward(self, x):\n"
            "        y = self.prepare(x)\n        return y.view(1) + make(3).view(2)\n"
        )
    return folder


@pytest.mark.parametrize("files", [4, 16])
def test_a_file_is_parsed_for_its_importers_once(
    files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = discover([_library(tmp_path, files)])
    kept = _found(Resolver(project, Table()))
    assert any(api == "torch.Tensor.view" for uses in kept for api, *_ in uses)
    parsed: list[str] = []
    parse = modules.parse

    def counted(source: SimpleNamespace, text: str) -> ast.Module:
        parsed.append(source.path.name)
        return parse(source, text)  # type: ignore[arg-type]

    monkeypatch.setattr(modules, "parse", counted)
    monkeypatch.setattr(modules, "_LINES_KEPT", 1)
    assert _found(Resolver(project, Table(), limit=0)) == kept
    assert parsed.count("large.py") <= 2  # as one that is imported, and in hand


def _found(resolver: Resolver) -> list[list[tuple[str, int, int]]]:
    return [
        [(use.api, use.line, use.column) for use in resolver.file(file).usages]
        for file in resolver.modules.project.files
    ]
