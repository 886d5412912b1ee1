"""What Python's operators give for numbers and texts: `1 / 2` is a float, `True + True` an int."""

from __future__ import annotations

import ast

from migrate.resolve.values import (
    BOOL,
    FLOAT,
    INT,
    NUMBER,
    STR,
    UNKNOWN,
    Instance,
    Known,
    Value,
    type_of_constant,
)

_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
_NUMBERS = (BOOL, INT, FLOAT, NUMBER)


def arithmetic(operator: ast.operator, left: Value, right: Value) -> Value:
    """The type of `left operator right`; unknown where their classes decide."""
    exponent = right.value if isinstance(right, Known) else None
    left = type_of_constant(left) if isinstance(left, Known) else left
    right = type_of_constant(right) if isinstance(right, Known) else right
    if left in _NUMBERS and right in _NUMBERS:
        return _of_numbers(operator, left, right, exponent)
    if left is STR and isinstance(operator, (ast.Mod, ast.Mult, ast.Add)):
        return STR
    if isinstance(left, Instance) and left is right:
        return left
    return UNKNOWN


def _of_numbers(operator: ast.operator, left: Value, right: Value, exponent: object) -> Value:
    kinds = (left, right)
    if isinstance(operator, _BITWISE):
        return BOOL if left is BOOL and right is BOOL else INT
    if FLOAT in kinds or isinstance(operator, ast.Div):
        return FLOAT
    if NUMBER in kinds:
        return NUMBER
    if isinstance(operator, ast.Pow):
        if not isinstance(exponent, int):
            return UNKNOWN  # 10 ** -3 is a float, 10 ** 3 is not
        return INT if exponent >= 0 else FLOAT
    return INT
