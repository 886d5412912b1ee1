"""Pair the nodes of a stdlib tree with those of libcst's tree of the same text, by their order.

The resolver works on stdlib ast, which is fast; the rewriter needs libcst, which keeps every
character. Both see the same
expressions in the same order, so counting is enough: no positions, no metadata.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import libcst as cst

_CONSTANT_NAMES = frozenset({"True", "False", "None"})
_JOINED = (
    ast.Name,
    ast.Attribute,
    ast.Call,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.Compare,
)
_STATEMENTS = (
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
)


class JoinError(Exception):
    """The two trees disagree; the file must not be rewritten."""


def in_source_order(tree: ast.AST) -> Iterator[ast.AST]:
    """Names, attributes, calls, definitions and simple statements as they stand in the source,
    outer before inner.
    """
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, (_JOINED, _STATEMENTS)) or _is_inversion(node):
            yield node
        stack.extend(reversed(_children(node)))


def _children(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.Call):
        return [node.func, *sorted([*node.args, *node.keywords], key=_position)]
    if isinstance(node, ast.ClassDef):
        arguments = sorted([*node.bases, *node.keywords], key=_position)
        return [*node.decorator_list, *arguments, *node.body]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [
            *node.decorator_list,
            node.args,
            *([node.returns] if node.returns else []),
            *node.body,
        ]
    if isinstance(node, ast.arguments):
        return _parameters(node)
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return [part for pair in pairs for part in pair if part is not None]
    if isinstance(node, ast.IfExp):
        return [node.body, node.test, node.orelse]
    if isinstance(node, ast.DictComp):
        return [node.key, node.value, *node.generators]
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return [node.elt, *node.generators]
    if isinstance(node, ast.MatchMapping):
        return [part for pair in zip(node.keys, node.patterns, strict=True) for part in pair]
    return list(ast.iter_child_nodes(node))


def _parameters(node: ast.arguments) -> list[ast.AST]:
    """Each parameter's annotation, then its default, in the order of the parameters."""
    found: list[ast.AST] = []
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


def _is_inversion(node: ast.AST) -> bool:
    """`~x`; of the other signs nobody asks."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


class Joiner(cst.CSTTransformer):
    """Hands out the stdlib nodes one by one while libcst walks its tree.

    The rewriter builds on it, so one walk does both.
    """

    def __init__(self, tree: ast.AST) -> None:
        super().__init__()
        self._queue = in_source_order(tree)
        self._skipped: set[int] = set()
        self._visitors: dict[type[cst.CSTNode], Any] = {}
        self._leavers: dict[type[cst.CSTNode], Any] = {}
        self.pairs: dict[int, ast.AST] = {}  # id of the libcst node -> stdlib node

    # libcst looks its methods up by name for every node and every field: look once for every type
    # instead.

    def on_visit(self, node: cst.CSTNode) -> bool:
        kind = type(node)
        try:
            method = self._visitors[kind]
        except KeyError:
            method = self._visitors[kind] = getattr(self, f"visit_{kind.__name__}", None)
        return True if method is None else method(node) is not False

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> Any:
        kind = type(original_node)
        try:
            method = self._leavers[kind]
        except KeyError:
            method = self._leavers[kind] = getattr(self, f"leave_{kind.__name__}", None)
        return updated_node if method is None else method(original_node, updated_node)

    def on_visit_attribute(self, node: cst.CSTNode, attribute: str) -> None:
        pass

    def on_leave_attribute(self, original_node: cst.CSTNode, attribute: str) -> None:
        pass

    def partner(self, node: cst.CSTNode) -> ast.AST | None:
        """The stdlib node of a libcst node that has been visited."""
        return self.pairs.get(id(node))

    def finish(self) -> None:
        rest = next(self._queue, None)
        if rest is not None:
            raise JoinError(
                f"unmatched {type(rest).__name__} at line {getattr(rest, 'lineno', '?')}"
            )

    def _take(self, node: cst.CSTNode, *kinds: type[ast.AST]) -> ast.AST:
        partner = next(self._queue, None)
        if partner is None or not isinstance(partner, kinds):
            line = getattr(partner, "lineno", "?")
            raise JoinError(
                f"{type(node).__name__} against {type(partner).__name__} at line {line}"
            )
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
        if partner.id != node.value:  # type: ignore[attr-defined]
            raise JoinError(f"name {node.value} against {partner.id}")  # type: ignore[attr-defined]

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
