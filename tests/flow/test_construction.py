"""Which functions run only while an object is built."""

from __future__ import annotations

import ast

import pytest

from migrate.flow.construction import builds

SOURCE = """
class Net:
    def __init__(self):
        self._fill()
        self.apply(self._applied)
        self._shared()
        self.public()

    def _fill(self):
        self._deeper()

    def _deeper(self):
        self._deeper()

    def _applied(self, layer): ...
    def _shared(self): ...
    def _unused(self): ...
    def public(self): ...

    def forward(self, x):
        self._shared()


def _function(layer): ...
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("__init__", True),
        ("_fill", True),
        ("_deeper", True),
        ("_applied", True),
        ("_shared", False),
        ("_unused", False),
        ("public", False),
        ("forward", False),
        ("_function", False),
    ],
)
def test_private_methods_of_constructors_do(name: str, expected: bool) -> None:
    tree = ast.parse(SOURCE)
    (node,) = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    assert builds(node, tree) is expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("class Big(Net):\n    def __init__(self):\n        self._fill()", True),
        ("class Big(Net):\n    def restart(self):\n        self._fill()", False),
        ("def restart(net):\n    net.apply(net._fill)", False),
        ("net._fill()", False),
    ],
)
def test_other_files_are_asked_too(other: str, expected: bool) -> None:
    tree = ast.parse(SOURCE)
    (node,) = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "_fill"]
    assert builds(node, tree, [ast.parse(other)]) is expected
