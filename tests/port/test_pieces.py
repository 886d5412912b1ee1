"""The index of helper pieces: complete, though a file is only parsed when it is asked for."""

from __future__ import annotations

import ast
from pathlib import Path

import migrate.emit
from migrate.table.helper_pieces import helper_index

HELPERS = Path(migrate.emit.__file__).parent / "helpers"


def test_the_index_names_what_the_files_define() -> None:
    defined: list[str] = []
    for path in sorted(HELPERS.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined.append(node.name)
            elif isinstance(node, ast.Assign):
                defined += [t.id for t in node.targets if isinstance(t, ast.Name)]
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                defined.append(node.target.id)
    assert list(helper_index().definitions) == defined


def test_each_of_them_is_there_and_in_the_order_of_the_files() -> None:
    found = list(helper_index().definitions.values())
    assert [piece.name for piece in found] == list(helper_index().definitions)
    assert [piece.order for piece in found] == sorted(piece.order for piece in found)
