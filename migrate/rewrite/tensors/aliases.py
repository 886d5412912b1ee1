"""Could anyone else see a tensor that is changed in place?"""

from __future__ import annotations

import ast

_VIEWS = frozenset(
    {
        "detach",
        "expand",
        "expand_as",
        "flatten",
        "narrow",
        "permute",
        "reshape",
        "select",
        "squeeze",
        "swapaxes",
        "t",
        "transpose",
        "unflatten",
        "unsqueeze",
        "view",
        "view_as",
    }
)


def alias_could_see(
    place: ast.expr, function: ast.AST | None, *, only_later_reads: bool = False
) -> str:
    """Who could see the change, in words; empty when nobody can.

    Only names are judged: `y = x` or `y = x[0]` before the change, with `y` read after it.
    """
    root = place
    while isinstance(root, ast.Subscript):
        root = root.value
    if not isinstance(root, ast.Name) or function is None:
        return ""
    line = place.lineno
    if only_later_reads:
        return root.id if _read_after(function, root.id, line) else ""
    for alias, at in _aliases(function, root.id):
        rebound = _last_binding(function, root.id, line)
        if at <= line and at >= rebound and _read_after(function, alias, line):
            return f"its other name {alias}"
    return ""


def _aliases(function: ast.AST, name: str) -> list[tuple[str, int]]:
    """Names that were made equal to `name` (or it to them), with the line."""
    found = []
    for node in ast.walk(function):
        viewed = _viewed(node.value) if isinstance(node, ast.Assign) else ""
        if isinstance(node, ast.Assign) and viewed:
            targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if viewed == name:
                found += [(target, node.lineno) for target in targets if target != name]
            elif name in targets:
                found.append((viewed, node.lineno))
    return found


def _viewed(value: ast.expr) -> str:
    """x of `x`, `x[0]`, `x.view(-1)`, `x.T`: values that share their memory with x."""
    while not isinstance(value, ast.Name):
        shared = isinstance(value, ast.Subscript) and _is_basic(value.slice)
        if shared or (isinstance(value, ast.Attribute) and value.attr in ("T", "mT", "data")):
            value = value.value  # type: ignore[attr-defined]
        elif (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in _VIEWS
        ):
            value = value.func.value
        else:
            return ""
    return value.id


def _is_basic(index: ast.expr) -> bool:
    """An index of numbers and slices; one of tensors would make a copy."""
    if isinstance(index, ast.Tuple):
        return all(map(_is_basic, index.elts))
    if isinstance(index, ast.UnaryOp):
        index = index.operand
    return isinstance(index, ast.Slice) or (
        isinstance(index, ast.Constant) and not isinstance(index.value, bool | str)
    )


def _last_binding(function: ast.AST, name: str, before: int) -> int:
    """The last line at or before which the name got a value that is not an alias."""
    last = 0
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and not _viewed(node.value) and node.lineno < before:
            for target in node.targets:
                names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
                if name in names and not isinstance(target, ast.Subscript):
                    last = max(last, node.lineno)
    return last


def _read_after(function: ast.AST, name: str, line: int) -> bool:
    """Read later in the text before it gets a new value, or in a loop around the change."""
    stored_at = {  # an assignment binds its targets after it has read its value
        id(part): node.end_lineno or node.lineno
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        for part in ast.walk(target)
    }
    events = sorted(
        (stored_at.get(id(n), n.lineno), isinstance(n.ctx, ast.Store))
        for n in ast.walk(function)
        if isinstance(n, ast.Name) and n.id == name
    )
    return next((not stores for at, stores in events if at > line), False)


def is_held(place: ast.Name, around: ast.AST) -> bool:
    """`average = state["average"]` stands before: the dict holds the tensor too."""
    last = (0, False)
    for node in ast.walk(around):
        if isinstance(node, ast.Assign) and node.lineno < place.lineno:
            for bound, shared in _bound(node):
                if bound == place.id:
                    last = max(last, (node.lineno, shared))
    return last[1]


def _bound(node: ast.Assign) -> list[tuple[str, bool]]:
    """The names that an assignment binds, and whether a dict holds what they get."""
    kept = any(isinstance(target, ast.Subscript) for target in node.targets)
    found = []
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        else:
            pairs = [(target, node.value)]
        for part, value in pairs:
            shared = kept or _is_keyed(value)
            found += [(name, shared and isinstance(part, ast.Name)) for name in _names(part)]
    return found


def _is_keyed(value: ast.expr) -> bool:
    """`state["average"]`, `state["averages"][beta]`: an item by its name, so of a dict."""
    if not isinstance(value, ast.Subscript):
        return False
    key = value.slice
    if isinstance(key, ast.Name):
        return _is_keyed(value.value)
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def is_loop_target(place: ast.Name, around: ast.AST) -> bool:
    """`for p in parameters:` stands around this p, and nothing in the loop binds it anew before."""
    for loop in ast.walk(around):
        if not isinstance(loop, ast.For) or place.id not in _names(loop.target):
            continue
        inside = [node for statement in loop.body for node in ast.walk(statement)]
        if any(node is place for node in inside):
            # x += 1 changes x and does not bind it anew
            changed = {id(node.target) for node in inside if isinstance(node, ast.AugAssign)}
            return not any(
                isinstance(node, ast.Name)
                and node.id == place.id
                and isinstance(node.ctx, ast.Store)
                and node.lineno < place.lineno
                and id(node) not in changed
                for node in inside
            )
    return False


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def is_callers(place: ast.Name, function: ast.AST | None, stops_gradient: bool) -> bool:
    """`def fill_(tensor): tensor.mul_(2)`: whoever gave the tensor expects to see it change.

    The name of the function says so, or that it computes without gradients, or gives nothing back.
    A function that gives a value back is left to rebind its parameter, which keeps gradients.
    """
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    arguments = function.args
    given = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    changed = {id(node.target) for node in ast.walk(function) if isinstance(node, ast.AugAssign)}
    anew = any(
        isinstance(node, ast.Name)
        and node.id == place.id
        and isinstance(node.ctx, ast.Store)
        and node.lineno < place.lineno
        and id(node) not in changed
        for node in ast.walk(function)
    )
    if place.id not in given or place.id == "self" or anew:
        return False
    named = function.name.endswith("_") and not function.name.endswith("__")
    return named or stops_gradient or _gives_nothing(function)


def _gives_nothing(function: ast.AST) -> bool:
    """No value comes back, and no training step is taken inside."""
    return not any(
        (isinstance(node, ast.Return) and node.value is not None)
        or isinstance(node, ast.Yield | ast.YieldFrom)
        or (isinstance(node, ast.Attribute) and node.attr == "backward")
        for node in ast.walk(function)
    )
