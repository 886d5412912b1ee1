"""The sources keep to their layers, and functions stay small."""

from __future__ import annotations

import ast
from statistics import mean

from tests.structure.measure import (
    LAYERS,
    SOURCES,
    backward_imports,
    functions,
    longest_chain,
    sources,
    two_way_pairs,
)


def test_nothing_imports_a_higher_layer() -> None:
    assert [f"{one.path}:{one.line} imports {one.name}" for one in backward_imports()] == []


def test_no_two_folders_import_each_other() -> None:
    assert [sorted(pair) for pair in two_way_pairs()] == []


def test_the_layers_are_there() -> None:
    for name in (name for names in LAYERS for name in names):
        assert (SOURCES / name).is_dir() or (SOURCES / f"{name}.py").is_file(), name


def test_functions_are_small() -> None:
    found = functions()
    assert [one for one in found if one.complexity > 25] == []
    assert mean(one.complexity for one in found) < 5


def test_files_hold_one_idea_each() -> None:
    lengths = {path.name: path.read_text(encoding="utf-8").count("\n") for path in sources()}
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}


def test_classes_do_not_form_chains() -> None:
    chain = longest_chain()
    assert len(chain) <= 6, chain


def test_helpers_have_one_name_each() -> None:
    """They end up in one module: of two definitions of a name, one would be lost."""
    homes: dict[str, set[str]] = {}
    for path in (SOURCES / "emit" / "helpers").glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [getattr(node, "name", "")]
            if isinstance(node, ast.Assign):
                names = [getattr(target, "id", "") for target in node.targets]
            for name in filter(None, names):
                homes.setdefault(name, set()).add(path.name)
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}
