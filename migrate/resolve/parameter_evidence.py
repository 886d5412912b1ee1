"""What a function's body says about its parameters: `boxes.corners` is no member of a tensor."""

from __future__ import annotations

import ast
from functools import lru_cache

from migrate.resolve.values import NONE, UNKNOWN, Value, is_tensor, join, options_of
from migrate.table import Table


def is_no_tensor(node: ast.AST, name: str, table: Table) -> bool:
    """The body reads a member that tensors do not have, or one of their methods without a call."""
    for attribute, called in _members(node).get(name, ()):
        entry = table.get(f"torch.Tensor.{attribute}")
        if entry is None and not attribute.startswith("_"):
            return True
        if entry is not None and entry.kind == "method" and not called:
            return True
    return False


def without_tensors(value: Value) -> Value:
    """What is left of a guess once the body has excluded tensors."""
    left = [option for option in options_of(value) if not is_tensor(option) or option is NONE]
    result: Value = UNKNOWN
    for option in left:
        result = join(result, option)
    return result


@lru_cache(maxsize=256)
def _members(node: ast.AST) -> dict[str, set[tuple[str, bool]]]:
    """The members read of each name, and whether they are called."""
    found: dict[str, set[tuple[str, bool]]] = {}
    called = {one.func for one in ast.walk(node) if isinstance(one, ast.Call)}
    for one in ast.walk(node):
        if not isinstance(one, ast.Attribute) or not isinstance(one.ctx, ast.Load):
            continue
        if isinstance(one.value, ast.Name):
            found.setdefault(one.value.id, set()).add((one.attr, one in called))
    return found
