"""Questions about an expression that lead to the same question about others: `x = y + 1`, then y.

A loop leads back to where it began, so the chain is followed to a depth and the answer is unknown
beyond it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
_DEEPEST = 12


class Bounded:
    """Base of those who ask: one depth for all the questions of an object."""

    def __init__(self) -> None:
        self._depth = 0

    def bounded(
        self, find: Callable[[ast.expr], Answer], node: ast.expr, unknown: Answer
    ) -> Answer:
        if self._depth > _DEEPEST:
            return unknown
        self._depth += 1
        try:
            return find(node)
        finally:
            self._depth -= 1
