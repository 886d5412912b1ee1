"""A variable that a loop makes and that is read behind it: the compiler wants it made before."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Container
from typing import Any

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.walk import transform_lazily


@declare(
    phase="graph_mode",
    unit="function",
    needs=["compiled"],
    after={
        "continue_to_if": "what it moves into an `if` binds names there",
        "init_branch_vars": "a variable that it initialises in front of a loop is known there",
    },
    examples=[
        becomes(
            "for layer in self.layers:\n    h = layer(x)\nx = h + 1",
            "h = None\nfor layer in self.layers:\n    h = layer(x)\nx = h + 1",
        ),
    ],
)
def init_loop_vars(function: cst.FunctionDef, text: str, context: Context) -> cst.FunctionDef:
    """`for ...: y = f(x)`, then `return y`: `y = None` stands in front of the loop."""
    wanted = _made_in_loops(ast.parse(textwrap.dedent(text)).body[0]) if "for " in text else {}
    if not wanted:
        return function
    return names_in_front(function, wanted, cst.For)


def names_in_front(
    function: cst.FunctionDef, wanted: dict[int, list[str]], kind: type[cst.For] | type[cst.If]
) -> cst.FunctionDef:
    """`y = None` in front of the statements of this kind that have these numbers."""
    return transform_lazily(function, _Insert(wanted, kind))


class _Insert(cst.CSTTransformer):
    def __init__(self, wanted: dict[int, list[str]], kind: type[cst.For] | type[cst.If]) -> None:
        super().__init__()
        self._wanted = wanted
        self._kind = kind
        self._seen = 0
        self._open: list[int] = []

    def visit_For(self, node: cst.For) -> None:
        self._enter(node)

    def visit_If(self, node: cst.If) -> None:
        self._enter(node)

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> Any:
        return self._leave(updated_node)

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> Any:
        return self._leave(updated_node)

    def _enter(self, node: cst.For | cst.If) -> None:
        if isinstance(node, self._kind):
            self._open.append(self._seen)
            self._seen += 1

    def _leave(self, new: cst.For | cst.If) -> Any:
        names = self._wanted.get(self._open.pop()) if isinstance(new, self._kind) else None
        if not names:
            return new
        line = cst.parse_statement(f"{' = '.join(names)} = None").with_changes(
            leading_lines=new.leading_lines
        )
        return cst.FlattenSentinel([line, new.with_changes(leading_lines=[])])


def _made_in_loops(function: ast.AST) -> dict[int, list[str]]:
    """Names by the number of the loop, in source order, in front of which they must be made."""
    loops = [node for node in all_nodes(function) if isinstance(node, ast.For)]
    loops.sort(key=lambda loop: (loop.lineno, loop.col_offset))
    if not loops:
        return {}
    stores, loads = _uses(function)
    wanted: dict[int, list[str]] = {}
    for loop in loops:
        end = loop.end_lineno or loop.lineno
        outer = next(i for i, o in enumerate(loops) if _contains(o, loop))
        first = loops[outer].lineno
        for name, lines in stores.items():
            made = any(loop.lineno <= line <= end for line in lines)
            read = min((line for line in loads.get(name, ()) if line > end), default=0)
            anew = any(end < line < read for line in lines)
            if made and read and not anew and min(lines) >= first:
                known = wanted.setdefault(outer, [])
                if name not in known:
                    known.append(name)
    return wanted


def _contains(outer: ast.For, inner: ast.For) -> bool:
    return outer.lineno <= inner.lineno <= (outer.end_lineno or 0)


def _uses(function: ast.AST) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """The lines in which each name gets a value, and in which it is read."""
    stores: dict[str, list[int]] = {}
    loads: dict[str, list[int]] = {}
    inside = _comprehended(function)
    for node in all_nodes(function):
        if isinstance(node, ast.arg):
            stores.setdefault(node.arg, []).append(0)
        elif isinstance(node, ast.Name) and id(node) not in inside:
            kept = loads if isinstance(node.ctx, ast.Load) else stores
            kept.setdefault(node.id, []).append(node.lineno)
            if isinstance(node.ctx, ast.Store):
                continue
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            loads.setdefault(node.target.id, []).append(node.lineno)
    return stores, loads


def _comprehended(function: ast.AST) -> Container[int]:
    """Variables of comprehensions are their own."""
    return {
        id(part)
        for node in all_nodes(function)
        if isinstance(node, ast.comprehension)
        for part in ast.walk(node.target)
    }
