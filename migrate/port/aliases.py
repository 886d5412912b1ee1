"""Could anyone else see a tensor that is changed in place?"""

from __future__ import annotations

import ast


def alias_could_see(
    place: ast.expr, function: ast.AST | None, *, only_later_reads: bool = False
) -> str:
    """Who could see the change, in words; empty when nobody can.

    Only names are judged: `y = x` before the change, with `y` read after it.
    """
    root = place
    while isinstance(root, ast.Subscript):
        root = root.value
    if not isinstance(root, ast.Name) or function is None:
        return ""
    line = place.lineno
    if only_later_reads:
        reads = [
            n
            for n in ast.walk(function)
            if isinstance(n, ast.Name) and n.id == root.id and n.lineno > line
        ]
        return root.id if any(isinstance(n.ctx, ast.Load) for n in reads) else ""
    for alias, at in _aliases(function, root.id):
        rebound = _last_binding(function, root.id, line)
        if at <= line and at >= rebound and _read_after(function, alias, line):
            return f"its other name {alias}"
    return ""


def _aliases(function: ast.AST, name: str) -> list[tuple[str, int]]:
    """Names that were made equal to `name` (or it to them), with the line."""
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if node.value.id == name:
                found += [(target, node.lineno) for target in targets if target != name]
            elif name in targets:
                found.append((node.value.id, node.lineno))
    return found


def _last_binding(function: ast.AST, name: str, before: int) -> int:
    """The last line at or before which the name got a value that is not an alias."""
    last = 0
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Assign)
            and not isinstance(node.value, ast.Name)
            and node.lineno < before
        ):
            for target in node.targets:
                names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
                if name in names and not isinstance(target, ast.Subscript):
                    last = max(last, node.lineno)
    return last


def _read_after(function: ast.AST, name: str, line: int) -> bool:
    """Read later in the text before it gets a new value, or in a loop around the change."""
    events = sorted(
        (
            (n.lineno, n.col_offset, n)
            for n in ast.walk(function)
            if isinstance(n, ast.Name) and n.id == name
        ),
        key=lambda event: event[:2],
    )
    for at, _, node in events:
        if at > line:
            return isinstance(node.ctx, ast.Load)
    return False
