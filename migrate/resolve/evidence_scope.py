"""How far does a proof of a value's type reach? `torch.matmul(x, w)` takes tensors alone, so `x` is
one where that call is always reached; in another branch it may be something else.

def scale(x, w):
    if isinstance(w, float):
        return x * w                  # nothing is known of x here
    return torch.matmul(x, w)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from migrate.syntax.access import is_read
from migrate.syntax.ast_index import all_nodes, parents_of, remembered

_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_WITH = (ast.With, ast.AsyncWith)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def covers_all_reads(function: Function, name: str, proof: ast.expr) -> bool:
    """Whether every read of a parameter stands where the proof is reached, too."""
    scope = remembered(function, _Scope)
    return scope.covers(scope.reads.get(name, []), proof)


class _Scope:
    """What is asked of a function as often as it has proofs, each looked up once."""

    def __init__(self, function: Function) -> None:
        self._parents = parents_of(function)
        self._blocks: dict[ast.AST, list[ast.stmt]] = {}  # statement -> the block that it stands in
        self._parts: dict[int, dict[ast.AST, int]] = {}  # of each block, with their order
        self._leaving: set[ast.AST] = set()  # what holds a return, raise, break or continue
        self.reads: dict[str, list[ast.Name]] = {}
        for node in all_nodes(function):
            for block in _blocks(node):
                self._blocks.update(dict.fromkeys(block, block))
            if isinstance(node, ast.Name) and is_read(node):
                self.reads.setdefault(node.id, []).append(node)
            elif isinstance(node, _LEAVES):
                self._mark_leaving(node)

    def _mark_leaving(self, node: ast.AST | None) -> None:
        while node is not None and node not in self._leaving:
            self._leaving.add(node)
            node = self._parents.get(node)

    def covers(self, reads: list[ast.Name], proof: ast.expr) -> bool:
        if len(reads) < 2:
            return True
        parts = self._parts_around(proof)
        here = self._part_of(proof, parts)
        if here is None or self._is_conditional(here, proof):
            return False
        return all(self._is_covered(read, parts, parts[here]) for read in reads)

    def _is_covered(self, read: ast.Name, parts: dict[ast.AST, int], proved: int) -> bool:
        part = self._part_of(read, parts)
        if part is None:
            return False
        if parts[part] >= proved or part not in self._leaving:
            return True
        # `if x is None: return x`: of what leaves the block before the proof, the test is reached.
        test = getattr(part, "test", None)
        return test is not None and test in self._around(read, part)

    def _parts_around(self, node: ast.AST) -> dict[ast.AST, int]:
        """The innermost block around a node that may be skipped as a whole, by its statements."""
        block: list[ast.stmt] = []
        at: ast.AST | None = node
        while at is not None:
            above = self._parents.get(at)
            if isinstance(at, _NESTED) and above is not None:
                block = []  # it runs when it is called: what it holds is none of the function's
            if not block and at in self._blocks and not isinstance(above, _WITH):
                block = self._blocks[at]
            at = above
        if id(block) not in self._parts:
            parts = {part: place for place, part in enumerate(_unwrapped(block))}
            if not block:  # a decorator, or a default value
                return parts
            self._parts[id(block)] = parts
        return self._parts[id(block)]

    def _part_of(self, node: ast.AST | None, parts: dict[ast.AST, int]) -> ast.AST | None:
        while node is not None and node not in parts:
            node = self._parents.get(node)
        return node

    def _around(self, node: ast.AST, top: ast.AST) -> Iterator[ast.AST]:
        """The node and what it stands in, up to `top`."""
        yield node
        while node is not top:
            node = self._parents[node]
            yield node

    def _is_conditional(self, statement: ast.AST, node: ast.expr) -> bool:
        """In a part of an expression that is not always evaluated."""
        path = list(self._around(node, statement))
        return any(_may_skip(around, below) for below, around in pairwise(path))


def _may_skip(node: Any, part: ast.AST) -> bool:
    """Whether a node is evaluated now and then without this one of its parts."""
    if isinstance(node, ast.IfExp):
        return part is not node.test
    if isinstance(node, ast.BoolOp):
        return part is not node.values[0]
    if isinstance(node, _COMPREHENSIONS):
        return part is not node.generators[0]
    if isinstance(node, ast.comprehension):
        return part is not node.iter
    return isinstance(node, (*_NESTED, ast.match_case, ast.ExceptHandler))


def _unwrapped(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What stands in a `with` is never skipped: its statements belong to the block around it."""
    for statement in body:
        if isinstance(statement, _WITH):
            yield from statement.items
            yield from _unwrapped(statement.body)
        else:
            yield statement


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block
