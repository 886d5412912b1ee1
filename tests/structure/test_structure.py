"""The sources keep to their layers, and functions stay small."""

from __future__ import annotations

from statistics import mean

from tests.structure.measure import LAYERS, SOURCES, backward_imports, functions, longest_chain


def test_nothing_imports_a_higher_layer() -> None:
    assert [f"{one.path}:{one.line} imports {one.name}" for one in backward_imports()] == []


def test_the_layers_are_there() -> None:
    for name in (name for names in LAYERS for name in names):
        assert (SOURCES / name).is_dir() or (SOURCES / f"{name}.py").is_file(), name


def test_functions_are_small() -> None:
    found = functions()
    assert [one for one in found if one.complexity > 25] == []
    assert mean(one.complexity for one in found) < 5


def test_classes_do_not_form_chains() -> None:
    chain = longest_chain()
    assert len(chain) <= 6, chain
