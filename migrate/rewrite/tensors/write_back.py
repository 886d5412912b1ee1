"""Views in differentiated code: after a change of one side, the other side is computed anew.

    row = x[0]                 row = x[0]
    row += 1            ->     row += 1
    return x                   x[0] = row
                               return x

Only views that are taken in one step, by an index or a reshape of a name, have such a form.
"""

from __future__ import annotations

import ast

from migrate.flow.alias import Observer
from migrate.flow.events import Definition
from migrate.flow.function import FunctionFlow
from migrate.pipeline.context import Context
from migrate.syntax.ast_index import all_nodes

_RESHAPED = frozenset({"flatten", "reshape", "squeeze", "unsqueeze", "view", "view_as"})
_SWAPPED = frozenset({"transpose", "swapaxes", "swapdims"})


def write_back(place: ast.expr, observers: list[Observer], context: Context) -> list[str] | None:
    """The lines behind the statement; None where one of the observers has no such form."""
    flow = context.flow.around(place)
    statement = flow.cfg.statement_of(place) if flow is not None else None
    while isinstance(place, ast.Subscript):
        place = place.value
    if flow is None or statement is None or not isinstance(place, ast.Name):
        return None
    lines = []
    for observer in observers:
        if observer.kind != "name" or observer.relation != "view":
            return None
        line = _line(place.id, observer.name, statement, flow)
        if line is None:
            return None
        lines.append(line)
    # Views of the changed tensor are taken anew in any order; a view of a view is not.
    anew = all(
        _viewed(getattr(_only_definition(o.name, statement, flow), "value", None)) == place.id
        for o in observers
    )
    return lines if len(lines) == 1 or anew else None


def _line(changed: str, other: str, statement: ast.AST, flow: FunctionFlow) -> str | None:
    view = _only_definition(changed, statement, flow)
    if view is not None and _viewed(view.value) == other and _is_steady(view, statement, flow):
        return _into_base(view.value, changed, other)
    view = _only_definition(other, statement, flow)
    if view is not None and _viewed(view.value) == changed and _is_steady(view, statement, flow):
        return _from_base(view.value, changed, other)
    return None


def _only_definition(name: str, statement: ast.AST, flow: FunctionFlow) -> Definition | None:
    """The one assignment that gave the name its value, changes in place left out."""
    found = [d for d in flow.defuse.reaching_at(statement, name) if d.kind != "augmented"]
    return found[0] if len(found) == 1 and found[0].value is not None else None


def _viewed(value: ast.expr | None) -> str:
    """`x` of `x[0]` and `x.view(-1)`."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        known = value.func.attr in _RESHAPED or value.func.attr in _SWAPPED or _is_t(value)
        value = value.func.value if known else None
    elif isinstance(value, ast.Subscript) or (
        isinstance(value, ast.Attribute) and value.attr == "T"
    ):
        value = value.value
    else:
        value = None
    return value.id if isinstance(value, ast.Name) else ""


def _is_t(value: ast.Call) -> bool:
    return getattr(value.func, "attr", "") == "t" and not value.args


def _is_steady(view: Definition, statement: ast.AST, flow: FunctionFlow) -> bool:
    """The names in the view mean the same where the statement stands, and it ran before."""
    assert view.value is not None
    if not flow.cfg.dominates(view.statement, statement):
        return False
    for node in all_nodes(view.value):
        if isinstance(node, ast.Name):
            then = _bound(flow.defuse.reaching_at(view.statement, node.id))
            now = _bound(flow.defuse.reaching_at(statement, node.id))
            if then != now:
                return False
    return True


def _bound(definitions: tuple[Definition, ...]) -> set[Definition]:
    return {d for d in definitions if d.kind != "augmented"}


def _into_base(value: ast.expr | None, view: str, base: str) -> str | None:
    if isinstance(value, ast.Subscript):
        return f"{base}[{_index(value.slice)}] = {view}"
    if isinstance(value, ast.Attribute) or (isinstance(value, ast.Call) and _is_t(value)):
        return f"{base} = {view}.T"
    assert isinstance(value, ast.Call)
    name = getattr(value.func, "attr", "")
    if name in _SWAPPED:
        return f"{base} = {view}.swapaxes({_arguments(value)})" if len(value.args) == 2 else None
    return f"{base} = {view}.reshape({base}.shape)"


def _from_base(value: ast.expr | None, base: str, view: str) -> str | None:
    if isinstance(value, ast.Subscript):
        return f"{view} = {base}[{_index(value.slice)}]"
    if isinstance(value, ast.Attribute) or (isinstance(value, ast.Call) and _is_t(value)):
        return f"{view} = {base}.T"
    assert isinstance(value, ast.Call)
    name = getattr(value.func, "attr", "")
    if name in _SWAPPED:
        return f"{view} = {base}.swapaxes({_arguments(value)})" if len(value.args) == 2 else None
    return f"{view} = {base}.reshape({view}.shape)"


def _index(node: ast.expr) -> str:
    return (
        ast.unparse(node).removeprefix("(").removesuffix(")")
        if isinstance(node, ast.Tuple)
        else ast.unparse(node)
    )


def _arguments(call: ast.Call) -> str:
    return ", ".join(ast.unparse(argument) for argument in call.args)
