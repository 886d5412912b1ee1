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
