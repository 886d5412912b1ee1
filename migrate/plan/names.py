"""Which names a piece of code reads and binds, and what runs before, inside and behind a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterable

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def reads(node: ast.AST) -> set[str]:
    """Names that are looked at; those of a comprehension or a lambda are its own."""
    own: set[str] = set()
    if isinstance(node, _COMPREHENSIONS):
        own = {name for part in node.generators for name in _stored(part.target)}
    elif isinstance(node, ast.Lambda):
        own = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    elif isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    found: set[str] = set()
    # x += 1 looks at x although its context says otherwise
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    for child in ast.iter_child_nodes(node):
        found |= reads(child)
    return found - own


def binds(node: ast.AST) -> set[str]:
    """Names that get a value."""
    if isinstance(node, (*_COMPREHENSIONS, ast.Lambda)):
        return {
            n.target.id
            for n in ast.walk(node)
            if isinstance(n, ast.NamedExpr) and isinstance(n.target, ast.Name)
        }
    found: set[str] = set()
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        found.add(node.id)
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        found.add(node.name)
    for child in ast.iter_child_nodes(node):
        found |= binds(child)
    return found


# Methods that change what they are called on, besides those that end in an underscore.
_CHANGING = frozenset({"append", "extend", "insert", "update", "add", "pop", "setdefault"})


def changes(node: ast.AST) -> set[str]:
    """Names that get a value, and names whose value is changed: `x[i] = v`, `x.fill_(0)`,
    `losses.append(v)`.
    """
    found = changes_of_tensors(node)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            found |= _root(inner)
        elif _method(inner) in _CHANGING:
            found |= _root(inner.value)  # type: ignore[attr-defined]
    return found


def changes_of_tensors(node: ast.AST) -> set[str]:
    """Names that get a value, and those of tensors or containers that get other items."""
    found = binds(node)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store):
            found |= _root(inner)
        elif _method(inner).endswith("_"):
            found |= _root(inner.value)  # type: ignore[attr-defined]
    return found


def _method(node: ast.AST) -> str:
    """The method that a statement calls, if that is all it does."""
    call = node.value if isinstance(node, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else ""
    return "" if name == "unscale_" else name  # that one changes gradients, not the scaler


def _root(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) and node.id != "self" else set()


def _stored(target: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}


def reads_before_binding(statements: Iterable[ast.stmt]) -> list[str]:
    """Names that the statements take from outside, in the order of their first use."""
    free: dict[str, None] = {}
    _scan(statements, set(), free)
    return list(free)


def _scan(statements: Iterable[ast.stmt], bound: set[str], free: dict[str, None]) -> None:
    """Follow the statements in order; what a branch binds counts as bound behind it."""
    for statement in statements:
        inner = [] if isinstance(statement, _SCOPES) else blocks_of(statement)
        if not inner:
            _look(statement, bound, free)
            bound |= binds(statement)
            continue
        for head in _heads(statement):
            _look(head, bound, free)
            bound |= binds(head)
        for block in inner:
            _scan(block, bound, free)


def _look(node: ast.AST, bound: set[str], free: dict[str, None]) -> None:
    names = sorted(reads(node) - bound, key=lambda name: _first_use(node, name))
    free |= dict.fromkeys(names)


def _heads(statement: ast.stmt) -> list[ast.AST]:
    """The expressions of a compound statement that stand in front of its blocks."""
    found: list[ast.AST] = []
    for field in ("test", "iter", "target", "items", "subject"):
        value = getattr(statement, field, None)
        found += value if isinstance(value, list) else [value] if value is not None else []
    return found


def _first_use(statement: ast.AST, name: str) -> tuple[int, int]:
    places = [
        (n.lineno, n.col_offset)
        for n in ast.walk(statement)
        if isinstance(n, ast.Name) and n.id == name
    ]
    return min(places, default=(0, 0))


def blocks_of(node: ast.AST) -> list[list[ast.stmt]]:
    """The statement lists directly inside a statement, those of inner functions left out."""
    found = []
    for field in ("body", "orelse", "finalbody"):
        value = getattr(node, field, None)
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            found.append(value)
    found += [handler.body for handler in getattr(node, "handlers", ())]
    found += [case.body for case in getattr(node, "cases", ())]
    return found


def statements_below(body: list[ast.stmt]) -> list[tuple[list[ast.stmt], ast.stmt]]:
    """All statements of a body with the list each stands in.

    Inner functions and classes are left out.
    """
    found: list[tuple[list[ast.stmt], ast.stmt]] = []
    for statement in body:
        found.append((body, statement))
        if not isinstance(statement, _SCOPES):
            for block in blocks_of(statement):
                found += statements_below(block)
    return found


_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def bound_anew(loop: ast.stmt, region: list[ast.stmt], moved: set[int]) -> set[str]:
    """Names that every round gives a value before the region; others it takes from the last one."""
    names: set[str] = set()
    for _, statement in statements_below([loop]):
        if id(statement) in moved or not region or statement.lineno >= region[0].lineno:
            continue
        if isinstance(statement, ast.For):
            names |= binds(statement.target)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            names |= binds(statement)
    return names


def behind(loop: ast.stmt, body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that come after the loop, those inside of others left out."""
    end = loop.end_lineno or loop.lineno
    found: list[ast.stmt] = []
    last = end
    for _, statement in statements_below(body):
        if statement.lineno > last:
            found.append(statement)
            last = statement.end_lineno or statement.lineno
    return found


def own_reads(statement: ast.stmt) -> set[str]:
    """What the head of a compound statement reads; its body is looked at statement by statement."""
    heads = [getattr(statement, name, None) for name in ("test", "iter", "items", "value")]
    found: set[str] = set()
    for head in heads:
        for node in head if isinstance(head, list) else [head]:
            if isinstance(node, ast.AST):
                found |= reads(node)
    return found


def contains(statement: ast.stmt, moved: set[int]) -> bool:
    return any(id(node) in moved for node in ast.walk(statement))


def outermost_loop(body: list[ast.stmt], target: ast.stmt) -> ast.stmt | None:
    for statement in body:
        if any(node is target for node in ast.walk(statement)):
            if isinstance(statement, _LOOPS):
                return statement
            for block in _inner(statement):
                found = outermost_loop(block, target)
                if found is not None:
                    return found
    return None


def innermost_loop(body: list[ast.stmt], target: ast.stmt) -> ast.stmt | None:
    """The loop that the target is directly in."""
    found, loop = None, outermost_loop(body, target)
    while loop is not None:
        found, loop = loop, outermost_loop(loop.body, target)  # type: ignore[attr-defined]
    return found


def step_loop(body: list[ast.stmt], target: ast.stmt, code: set[str]) -> ast.stmt | None:
    """The outermost loop around the step that does not itself make what the step is built of.

    `for fold in folds: model = Net(); ...`: each fold has a forward function of its own.
    """
    loop = outermost_loop(body, target)
    while loop is not None and binds(loop) & code:
        loop = outermost_loop(getattr(loop, "body", []), target)
    return loop


def loop_bodies(loop: ast.stmt) -> list[list[ast.stmt]]:
    """The bodies of a loop and of the loops directly in it."""
    bodies = []
    pending = [loop]
    while pending:
        current = pending.pop()
        body: list[ast.stmt] = getattr(current, "body", [])
        bodies.append(body)
        pending += [statement for statement in body if isinstance(statement, _LOOPS)]
    return bodies


def _inner(statement: ast.stmt) -> list[list[ast.stmt]]:
    return [] if isinstance(statement, ast.FunctionDef | ast.ClassDef) else blocks_of(statement)


def bound_before(body: list[ast.stmt], anchor: ast.stmt) -> set[str]:
    """In a function without a loop: everything bound before, parameters included, may be data."""
    names: set[str] = set()
    for _, statement in statements_below(body):
        if statement is anchor:
            break
        inner = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        names |= {statement.name} if inner else binds(statement)  # type: ignore[attr-defined]
    return names
