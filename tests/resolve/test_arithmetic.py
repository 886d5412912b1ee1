"""Types of numbers that a program computes decide the dtype of tensors made of them."""

from __future__ import annotations

import ast

import pytest

from migrate.resolve.arithmetic import arithmetic
from migrate.resolve.values import BOOL, FLOAT, INT, NUMBER, STR, UNKNOWN, Known

CASES = [
    (ast.Div, INT, INT, FLOAT),
    (ast.Div, Known(1), Known(2), FLOAT),
    (ast.FloorDiv, INT, INT, INT),
    (ast.FloorDiv, FLOAT, INT, FLOAT),
    (ast.Mult, INT, Known(0.5), FLOAT),
    (ast.Add, BOOL, BOOL, INT),
    (ast.BitAnd, BOOL, BOOL, BOOL),
    (ast.BitOr, BOOL, INT, INT),
    (ast.Pow, INT, Known(2), INT),
    (ast.Pow, INT, Known(-1), FLOAT),
    (ast.Pow, Known(10), INT, UNKNOWN),
    (ast.Sub, NUMBER, INT, NUMBER),
    (ast.Mod, STR, INT, STR),
    (ast.Add, UNKNOWN, INT, UNKNOWN),
]


@pytest.mark.parametrize(("operator", "left", "right", "expected"), CASES)
def test_operators_of_numbers(operator, left, right, expected) -> None:
    assert arithmetic(operator(), left, right) is expected
