"""Which names one program point reads and binds: `x += y` reads x and y, then binds x."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from migrate.syntax.ast_index import all_nodes, child_nodes

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module | ast.ClassDef
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Kind = Literal[
    "parameter",
    "assign",
    "augmented",
    "loop",
    "with",
    "import",
    "definition",
    "except",
    "delete",
    "pattern",
    "walrus",
    "entry",
]
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A place that gives a name a value. `value` is the expression that the name gets as it is,
    where there is one: `y` of `x = y`, None of `x, z = y`.
    """

    name: str
    statement: ast.AST  # the statement, or the function for a parameter
    node: ast.AST  # the target
    value: ast.expr | None
    kind: Kind


def reads_in(node: ast.AST | None) -> Iterator[ast.Name]:
    """The names that evaluating an expression looks up in this scope, inner scopes' free names
    included, in source order.
    """
    if node is None:
        return
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            yield node
        return
    if isinstance(node, _COMPREHENSIONS):
        own = {n for part in node.generators for n in bound_in(part.target)}
        yield from (name for name in _children_reads(node) if name.id not in own)
        return
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target  # its context says Store, and it is read all the same
    if isinstance(node, _FUNCTIONS):
        yield from defaults_and_decorators(node)
        yield from free_reads(node)
        return
    if isinstance(node, ast.ClassDef):
        own = {name for statement in node.body for name, *_ in binds_in(statement, node)}
        yield from (name for name in _children_reads(node) if name.id not in own)
        return
    yield from _children_reads(node)


def _children_reads(node: ast.AST) -> Iterator[ast.Name]:
    for child in child_nodes(node):
        yield from reads_in(child)


def defaults_and_decorators(node: Function) -> Iterator[ast.Name]:
    for part in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
        yield from reads_in(part)
    for decorator in getattr(node, "decorator_list", ()):
        yield from reads_in(decorator)


def free_reads(function: Function) -> list[ast.Name]:
    """Names that the body of a function takes from around it."""
    own = {argument.arg for argument in arguments_of(function)}
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    outside: set[str] = set()
    for statement in body:
        for inner in all_nodes(statement):
            if isinstance(inner, (ast.Global, ast.Nonlocal)):
                outside |= set(inner.names)
    for statement in body:
        own |= {name for name in all_bound(statement) if name not in outside}
    return [name for statement in body for name in reads_in(statement) if name.id not in own]


def arguments_of(function: Function) -> list[ast.arg]:
    arguments = function.args
    rest = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def all_bound(node: ast.AST) -> set[str]:
    """Every name that a statement binds in its own scope, compound statements included."""
    found: set[str] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(current.name)
            continue
        if isinstance(current, ast.Lambda):
            continue
        if isinstance(current, _COMPREHENSIONS):
            found |= {w.target.id for w in all_nodes(current) if isinstance(w, ast.NamedExpr)}
            continue
        if isinstance(current, ast.Name) and isinstance(current.ctx, ast.Store):
            found.add(current.id)
        elif isinstance(current, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname or alias.name.partition(".")[0] for alias in current.names}
        elif isinstance(current, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and current.name:
            found.add(current.name)
        pending += child_nodes(current)
    return found


def bound_in(target: ast.expr) -> list[str]:
    """Names that a target binds: `a, *b` binds both, `a[0]` and `a.b` none."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Starred):
        return bound_in(target.value)
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for part in target.elts for name in bound_in(part)]
    return []


def binds_in(statement: ast.AST, owner: ast.AST) -> Iterator[tuple[str, Definition]]:
    """The definitions that a simple statement makes, with their names."""
    for definition in definitions_of(statement):
        yield definition.name, definition


def definitions_of(statement: ast.AST) -> list[Definition]:
    """Definitions made by a simple statement or by the head of a compound one."""
    found = [
        Definition(w.target.id, statement, w.target, w.value, "walrus")
        for w in _walruses(statement)
    ]
    found += _own_definitions(statement)
    return found


def _own_definitions(node: ast.AST) -> list[Definition]:
    if isinstance(node, ast.Assign):
        return [d for target in node.targets for d in _targets(target, node.value, node, "assign")]
    if isinstance(node, ast.AnnAssign):
        return _targets(node.target, node.value, node, "assign") if node.value else []
    if isinstance(node, ast.AugAssign):
        return _targets(node.target, None, node, "augmented")
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return _targets(node.target, None, node, "loop")
    if isinstance(node, (ast.With, ast.AsyncWith)):
        parts = [item.optional_vars for item in node.items if item.optional_vars is not None]
        return [d for part in parts for d in _targets(part, None, node, "with")]
    if isinstance(node, ast.Delete):
        return [d for target in node.targets for d in _targets(target, None, node, "delete")]
    return _named_definitions(node)


def _named_definitions(node: ast.AST) -> list[Definition]:
    """Those whose names are no expressions: imports, functions, classes, handlers, patterns."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        return [Definition(name, node, node, None, "import") for name in names if name != "*"]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [Definition(node.name, node, node, None, "definition")]
    if isinstance(node, ast.ExceptHandler) and node.name:
        return [Definition(node.name, node, node, None, "except")]
    if isinstance(node, ast.match_case):
        captures = [
            n.name
            for n in all_nodes(node.pattern)
            if isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name
        ]
        return [Definition(name, node, node, None, "pattern") for name in captures]
    return []


def _targets(
    target: ast.expr, value: ast.expr | None, statement: ast.AST, kind: Kind
) -> list[Definition]:
    if isinstance(target, ast.Name):
        return [Definition(target.id, statement, target, value, kind)]
    if isinstance(target, ast.Starred):
        return _targets(target.value, None, statement, kind)
    if isinstance(target, (ast.Tuple, ast.List)):
        values: list[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            plain = not any(isinstance(e, ast.Starred) for e in (*value.elts, *target.elts))
            values = list(value.elts) if plain else values
        return [
            definition
            for part, given in zip(target.elts, values, strict=True)
            for definition in _targets(part, given, statement, kind)
        ]
    return []


def _walruses(statement: ast.AST) -> Iterator[ast.NamedExpr]:
    """`(n := f(x))` anywhere in the expressions that the statement itself evaluates."""
    for part in heads(statement):
        pending = [part]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.NamedExpr):
                yield node
            if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                pending += child_nodes(node)


def heads(statement: ast.AST) -> list[ast.AST]:
    """The expressions that a statement evaluates itself, those of its inner blocks left out."""
    if isinstance(statement, (ast.If, ast.While)):
        return [statement.test]
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return [statement.iter]
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return [item.context_expr for item in statement.items]
    if isinstance(statement, ast.Match):
        return [statement.subject]
    if isinstance(statement, ast.match_case):
        return [statement.guard] if statement.guard is not None else []
    if isinstance(statement, (ast.Try, ast.TryStar)):
        return []
    if isinstance(statement, ast.ExceptHandler):
        return [statement.type] if statement.type is not None else []
    return [statement]


def reads_of(statement: ast.AST) -> list[ast.Name]:
    """The names that a simple statement or the head of a compound one reads, before it binds."""
    found = [name for head in heads(statement) for name in reads_in(head)]
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        found += _children_reads(statement.target)
    return found
