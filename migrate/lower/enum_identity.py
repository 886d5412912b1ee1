"""`self.kind is Kind.ADD`: compiled code compares identities of numbers, texts and types only. The
members of an Enum are equal where they are the same.
"""

from __future__ import annotations

import ast

from migrate.lower.function import CompiledFunction
from migrate.pipeline import becomes, declare, same
from migrate.resolve.values import ProjectClass, options_of

_ENUMS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"})
_NET = """
class Kind(Enum):
    ADD = 1

class Net(nn.{0}):
    def {1}(self, x):
        return x + 1 if {2} else x
"""


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled", "types"],
    examples=[
        becomes(
            f"from enum import Enum\n{_NET.format('Module', 'forward', 'self.kind is Kind.ADD')}",
            _NET.format("Cell", "construct", "self.kind == Kind.ADD"),
        ),
        becomes(
            f"from enum import Enum\n{_NET.format('Module', 'forward', 'Kind.ADD is not self.k')}",
            _NET.format("Cell", "construct", "Kind.ADD != self.k"),
        ),
        same("x = x if self.args is None else x + 1"),
    ],
)
def enum_identity(function: CompiledFunction) -> None:
    for node in function.of_kind(ast.Compare):
        if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            continue
        sides = (node.left, node.comparators[0])
        if any(_is_member(side, function) for side in sides):
            word = "==" if isinstance(node.ops[0], ast.Is) else "!="
            function.replace(node, sides[0], f" {word} ", sides[1])


def _is_member(node: ast.expr, function: CompiledFunction) -> bool:
    """`Kind.ADD` of a class that compares its members as Enum does."""
    if not isinstance(node, ast.Attribute):
        return False
    return any(
        isinstance(owner, ProjectClass)
        and not _ENUMS.isdisjoint(owner.library_bases())
        and "__eq__" not in owner.body
        for owner in options_of(function.value_of(node.value))
    )
