"""Pair the nodes of a stdlib tree with those of libcst's tree of the same text, by their order.

The resolver works on stdlib ast, which is fast; the rewriter needs libcst, which keeps every
character. Both see the same
expressions in the same order, so that is enough: no positions, no metadata. Nodes of both trees are
equal only to themselves, so facts are kept by node.
"""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any

import libcst as cst

from migrate.syntax.children import CHILDREN

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
        ast.Assert,
        ast.Delete,
        ast.Raise,
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
    return [*node.decorator_list, *_type_parameters(node), *arguments, *node.body]


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Any]:
    returns = [node.returns] if node.returns else []
    return [*node.decorator_list, *_type_parameters(node), node.args, *returns, *node.body]


def _type_parameters(node: ast.AST) -> list[Any]:
    """Those of `def f[T: Tensor](x: T)`, which the stdlib reads from Python 3.12 on."""
    return list(getattr(node, "type_params", ()))


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


# The fields of libcst's nodes that hold what both trees treat as expressions or statements.
_FIELDS: dict[type[cst.CSTNode], tuple[str, ...]] = {
    **CHILDREN,
    cst.Import: (),
    cst.ImportFrom: (),
    cst.Global: (),
    cst.Nonlocal: (),
    cst.Arg: ("value",),
    cst.Attribute: ("value",),
    cst.ClassDef: ("decorators", "type_parameters", "bases", "keywords", "body"),
    cst.ExceptHandler: ("type", "body"),
    cst.ExceptStarHandler: ("type", "body"),
    cst.FunctionDef: ("decorators", "type_parameters", "params", "returns", "body"),
    cst.MatchAs: ("pattern",),
    cst.MatchKeywordElement: ("pattern",),
    cst.MatchMapping: ("elements",),
    cst.MatchStar: (),
    cst.Param: ("annotation", "default"),
    cst.ParamSpec: (),
    cst.TypeParam: ("param", "default"),
    cst.TypeVar: ("bound",),
    cst.TypeVarTuple: (),
}
_PARTNERS: dict[type[cst.CSTNode], tuple[type[ast.AST], ...]] = {
    cst.Name: (ast.Name,),
    cst.Attribute: (ast.Attribute,),
    cst.Call: (ast.Call,),
    cst.FunctionDef: (ast.FunctionDef, ast.AsyncFunctionDef),
    cst.ClassDef: (ast.ClassDef,),
    cst.Comparison: (ast.Compare,),
    cst.UnaryOperation: (ast.UnaryOp,),
    cst.Lambda: (ast.Lambda,),
    cst.Assign: (ast.Assign,),
    cst.AnnAssign: (ast.AnnAssign,),
    cst.AugAssign: (ast.AugAssign,),
    cst.Expr: (ast.Expr,),
    cst.Assert: (ast.Assert,),
    cst.Del: (ast.Delete,),
    cst.Raise: (ast.Raise,),
    cst.With: (ast.With, ast.AsyncWith),
    cst.For: (ast.For, ast.AsyncFor),
    cst.If: (ast.If,),
    cst.While: (ast.While,),
    cst.Try: (ast.Try,),
    cst.TryStar: (ast.TryStar,),
    cst.Return: (ast.Return,),
}


def pair_nodes(tree: ast.AST, module: cst.Module) -> dict[cst.CSTNode, ast.AST]:
    """The stdlib node of each libcst node that has one."""
    order = in_source_order(tree)
    order.reverse()
    pairs: dict[cst.CSTNode, ast.AST] = {}
    stack: list[Any] = [module]
    while stack:
        node = stack.pop()
        kind = node.__class__
        partners = _PARTNERS.get(kind)
        if partners is not None and not _is_alone(node, kind):
            partner: Any = order.pop() if order else None
            if partner.__class__ not in partners:
                raise _disagreement(node, partner)
            if kind is cst.Name and getattr(partner, "id", "") != _as_read(node.value):
                raise _disagreement(node, partner)
            pairs[node] = partner
        names = _FIELDS.get(kind)
        if names is None:
            stack += reversed(node.children)
            continue
        for name in reversed(names):
            value = getattr(node, name)
            if value.__class__ is tuple or value.__class__ is list:
                stack += reversed(value)
            elif isinstance(value, cst.CSTNode):
                stack.append(value)
    if order:
        raise _disagreement(module, order[-1])
    return pairs


def _as_read(name: str) -> str:
    """libcst keeps the letters of the source; Python reads names in their compatible form."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def _is_alone(node: Any, kind: type[cst.CSTNode]) -> bool:
    """What only libcst has: True as a name, signs of which nobody asks."""
    if kind is cst.Name:
        return node.value in _CONSTANT_NAMES
    return kind is cst.UnaryOperation and node.operator.__class__ is not cst.BitInvert


def _disagreement(node: cst.CSTNode, partner: Any) -> JoinError:
    line = getattr(partner, "lineno", "?")
    return JoinError(f"{type(node).__name__} against {type(partner).__name__} at line {line}")
