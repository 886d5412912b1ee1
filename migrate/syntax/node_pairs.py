"""Pair the nodes of a stdlib tree with those of libcst's tree of the same text, by their order.

The resolver works on stdlib ast, which is fast; the rewriter needs libcst, which keeps every
character. Both see the same
expressions in the same order, so counting is enough: no positions, no metadata.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from typing import Any

import libcst as cst

_CONSTANT_NAMES = frozenset({"True", "False", "None"})
_PAIRED = frozenset(
    {
        ast.Name,
        ast.Attribute,
        ast.Call,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Lambda,
        ast.Compare,
        ast.Assign,
        ast.AnnAssign,
        ast.AugAssign,
        ast.Expr,
        ast.With,
        ast.AsyncWith,
        ast.For,
        ast.AsyncFor,
        ast.If,
        ast.Return,
        ast.While,
        ast.Try,
        ast.TryStar,
    }
)  # and `~x`; of the other signs nobody asks


class JoinError(Exception):
    """The two trees disagree; the file must not be rewritten."""


def in_source_order(tree: ast.AST) -> list[Any]:
    """Names, attributes, calls, definitions and simple statements as they stand in the source,
    outer before inner.
    """
    found: list[ast.AST] = []
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind in _PAIRED or (kind is ast.UnaryOp and node.op.__class__ is ast.Invert):
            found.append(node)
        own_order = _OWN_ORDER.get(kind)
        if own_order is not None:
            stack += own_order(node)[::-1]
            continue
        for name in _fields(kind):
            value = getattr(node, name, None)
            if value.__class__ is list:
                stack += [item for item in reversed(value) if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                stack.append(value)
    return found


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields that can hold what is paired, the last one first."""
    return tuple(name for name in reversed(kind._fields) if name not in ("ctx", "op", "ops"))


def _call(node: ast.Call) -> list[Any]:
    return [node.func, *sorted([*node.args, *node.keywords], key=_position)]


def _class(node: ast.ClassDef) -> list[Any]:
    arguments = sorted([*node.bases, *node.keywords], key=_position)
    return [*node.decorator_list, *arguments, *node.body]


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Any]:
    returns = [node.returns] if node.returns else []
    return [*node.decorator_list, node.args, *returns, *node.body]


def _dict(node: ast.Dict) -> list[Any]:
    pairs = zip(node.keys, node.values, strict=True)
    return [part for pair in pairs for part in pair if part is not None]


def _parameters(node: ast.arguments) -> list[Any]:
    """Each parameter's annotation, then its default, in the order of the parameters."""
    found: list[Any] = []
    positional = [*node.posonlyargs, *node.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(node.defaults))
    defaults += node.defaults
    groups = list(zip(positional, defaults, strict=True))
    if node.vararg:
        groups.append((node.vararg, None))
    groups += zip(node.kwonlyargs, node.kw_defaults, strict=True)
    if node.kwarg:
        groups.append((node.kwarg, None))
    for argument, default in groups:
        found += [part for part in (argument.annotation, default) if part is not None]
    return found


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


# What the stdlib does not keep in the order of the source.
_OWN_ORDER: dict[type[ast.AST], Callable[[Any], list[Any]]] = {
    ast.Attribute: lambda node: [node.value],
    ast.Call: _call,
    ast.ClassDef: _class,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.arguments: _parameters,
    ast.Constant: lambda node: [],
    ast.Name: lambda node: [],
    ast.Dict: _dict,
    ast.IfExp: lambda node: [node.body, node.test, node.orelse],
    ast.DictComp: lambda node: [node.key, node.value, *node.generators],
    ast.MatchMapping: lambda node: [
        part for pair in zip(node.keys, node.patterns, strict=True) for part in pair
    ],
}


class NodePairer(cst.CSTTransformer):
    """Hands out the stdlib nodes one by one while libcst walks its tree.

    The rewriter builds on it, so one walk does both.
    """

    def __init__(self, tree: ast.AST) -> None:
        super().__init__()
        self._order = in_source_order(tree)
        self._taken = 0
        self._skipped: set[int] = set()
        self.pairs: dict[int, ast.AST] = {}  # id of the libcst node -> stdlib node

    def partner(self, node: cst.CSTNode) -> ast.AST | None:
        """The stdlib node of a libcst node that has been visited."""
        return self.pairs.get(id(node))

    def finish(self) -> None:
        if self._taken < len(self._order):
            rest = self._order[self._taken]
            raise JoinError(
                f"unmatched {type(rest).__name__} at line {getattr(rest, 'lineno', '?')}"
            )

    def _take(self, node: cst.CSTNode, *kinds: type[ast.AST]) -> Any:
        partner = self._order[self._taken] if self._taken < len(self._order) else None
        if partner.__class__ not in kinds:
            line = getattr(partner, "lineno", "?")
            raise JoinError(
                f"{type(node).__name__} against {type(partner).__name__} at line {line}"
            )
        self._taken += 1
        self.pairs[id(node)] = partner
        return partner

    # What only one of the two trees treats as an expression.

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def visit_Global(self, node: cst.Global) -> bool:
        return False

    def visit_Nonlocal(self, node: cst.Nonlocal) -> bool:
        return False

    def visit_Arg(self, node: cst.Arg) -> None:
        if node.keyword is not None:
            self._skipped.add(id(node.keyword))

    def visit_Param(self, node: cst.Param) -> None:
        self._skipped.add(id(node.name))

    def visit_ExceptHandler(self, node: cst.ExceptHandler) -> None:
        if node.name is not None:
            self._skipped.add(id(node.name.name))

    def visit_ExceptStarHandler(self, node: cst.ExceptStarHandler) -> None:
        if node.name is not None:
            self._skipped.add(id(node.name.name))

    def visit_MatchAs(self, node: cst.MatchAs) -> None:
        if node.name is not None:
            self._skipped.add(id(node.name))

    def visit_MatchStar(self, node: cst.MatchStar) -> None:
        if node.name is not None:
            self._skipped.add(id(node.name))

    def visit_MatchMapping(self, node: cst.MatchMapping) -> None:
        if node.rest is not None:
            self._skipped.add(id(node.rest))

    def visit_MatchKeywordElement(self, node: cst.MatchKeywordElement) -> None:
        self._skipped.add(id(node.key))

    # The pairs.

    def visit_Name(self, node: cst.Name) -> None:
        if id(node) in self._skipped or node.value in _CONSTANT_NAMES:
            return
        partner = self._take(node, ast.Name)
        if partner.id != node.value:
            raise JoinError(f"name {node.value} against {partner.id}")

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self._take(node, ast.Attribute)
        self._skipped.add(id(node.attr))

    def visit_Call(self, node: cst.Call) -> None:
        self._take(node, ast.Call)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._take(node, ast.FunctionDef, ast.AsyncFunctionDef)
        self._skipped.add(id(node.name))

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self._take(node, ast.ClassDef)
        self._skipped.add(id(node.name))

    def visit_Comparison(self, node: cst.Comparison) -> None:
        self._take(node, ast.Compare)

    def visit_UnaryOperation(self, node: cst.UnaryOperation) -> None:
        if isinstance(node.operator, cst.BitInvert):
            self._take(node, ast.UnaryOp)

    def visit_Lambda(self, node: cst.Lambda) -> None:
        self._take(node, ast.Lambda)

    def visit_Assign(self, node: cst.Assign) -> None:
        self._take(node, ast.Assign)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._take(node, ast.AnnAssign)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._take(node, ast.AugAssign)

    def visit_Expr(self, node: cst.Expr) -> None:
        self._take(node, ast.Expr)

    def visit_With(self, node: cst.With) -> None:
        self._take(node, ast.With, ast.AsyncWith)

    def visit_For(self, node: cst.For) -> None:
        self._take(node, ast.For, ast.AsyncFor)

    def visit_If(self, node: cst.If) -> None:
        self._take(node, ast.If)

    def visit_While(self, node: cst.While) -> None:
        self._take(node, ast.While)

    def visit_Try(self, node: cst.Try) -> None:
        self._take(node, ast.Try)

    def visit_TryStar(self, node: cst.TryStar) -> None:
        self._take(node, ast.TryStar)

    def visit_Return(self, node: cst.Return) -> None:
        self._take(node, ast.Return)
