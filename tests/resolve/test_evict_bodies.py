"""What a long run lets go of must come back unchanged when it is needed again."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate.project import discover
from migrate.resolve import Resolver
from migrate.resolve.evict_bodies import evict_bodies, restore
from migrate.table import Table

SOURCE = '''\
import functools

@functools.cache
def plain(x):
    """Text that
starts at the margin."""
    return x

class Net:
    size = 3

    async def method(self):
        return [1,
2]

if True:
    def guarded(): return 1
'''


def test_bodies_go_and_come_back(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(SOURCE)
    (source,) = discover([path]).files
    tree = ast.parse(SOURCE)
    whole = ast.dump(tree)
    assert evict_bodies(tree) == 3 + 2 + 1
    assert "starts at the margin" not in ast.dump(tree) and "size" in ast.dump(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.body == []
            restore(node, source)
    assert ast.dump(tree) == whole


def test_a_file_that_changed_meanwhile_gives_an_empty_body(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(SOURCE)
    (source,) = discover([path]).files
    tree = ast.parse(SOURCE)
    evict_bodies(tree)
    path.write_text("x = (")
    function = tree.body[1]
    assert isinstance(function, ast.FunctionDef)
    restore(function, source)
    assert isinstance(function.body[0], ast.Pass)


def _project(folder: Path) -> Path:
    (folder / "base.py").write_text(
        "import torch\ndef make(n):\n    return torch.zeros(n)\n"
        "class Base(torch.nn.Module):\n    def prepare(self, x):\n        return torch.relu(x)\n"
    )
    for number in range(6):
        (folder / f"net_{number}.py").write_text(
            "import base\nclass Net(base.Base):\n    def forward(self, x):\n"
            "        y = self.prepare(x)\n        return y.view(1) + base.make(3).view(2)\n"
        )
    return folder


def test_what_is_found_does_not_depend_on_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = discover([_project(tmp_path)])

    def found() -> list[list[tuple[str, int, int]]]:
        resolver = Resolver(project, Table())
        return [
            [(use.api, use.line, use.column) for use in resolver.file(file).usages]
            for file in project.files
        ]

    kept = found()
    assert all(("torch.Tensor.view", 5, 15) in uses for uses in kept[1:])
    monkeypatch.setattr("migrate.resolve.modules._LINES_KEPT", 1)
    assert found() == kept


def test_modules_that_import_from_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "from b import thing, other\nimport torch\nthing(torch.relu(1))\n"
    )
    (tmp_path / "b.py").write_text("from a import thing, other\nother = other\n")
    project = discover([tmp_path])
    resolver = Resolver(project, Table())
    assert [use.api for use in resolver.file(project.files[0]).usages] == ["torch.relu"]
    assert resolver.file(project.files[1]).problem is None


def test_long_lines_weigh_as_several(tmp_path: Path) -> None:
    """A run lets go of modules by lines: code that puts much on a line must not look small."""
    sums = " + ".join(f"torch.ones({n})" for n in range(100))
    weights = []
    for name, body in (("long", sums), ("usual", sums.replace(" + ", "\n    + "))):
        path = tmp_path / f"{name}.py"
        path.write_text(f"import torch\n\ndef f():\n    return ({body})\n")
        resolver = Resolver(discover([path]), Table())
        resolver.file(resolver.modules.project.files[0])
        weights.append(resolver.modules.weight)
    long, usual = weights
    assert long > usual / 4 > 20
