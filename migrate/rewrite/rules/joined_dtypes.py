"""torch.cat and its relatives promote: a mask joined to scores is a float. MindSpore's raise, and
in Graph mode they read one number's bits as another's.

Where all parts are of one dtype, or nothing is known of any, MindSpore's own function is called; a
part that is known to differ, or may, is left to a helper that looks.
"""

from __future__ import annotations

import ast

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule
from migrate.syntax.ast_index import all_nodes


@rule(
    becomes("torch.cat([x, y], 1)", "ops.cat([x, y], axis=1)"),
    becomes("torch.cat([x > 0, x.float()], 1)", "helpers.cat([x > 0, x.float()], 1)"),
    becomes("torch.cat([x > 0, y > 0])", "ops.cat([x > 0, y > 0])"),
    becomes("torch.cat([x > 0, y])", "helpers.cat([x > 0, y])"),
    becomes("torch.cat([x > 0 if k else x])", "helpers.cat([x > 0 if k else x])"),
)
def joined_dtypes(call: Call) -> None:
    written = call.sources.get("tensors")
    parts = _parts(written, call.around)
    if call.dtype_of is None or not parts:
        return
    kinds = {call.dtype_of(part) for part in parts}
    if len(kinds) > 1 or (kinds == {""} and _are_foreign(parts, call.around)):
        raise Refusal("the parts may have different dtypes", "cast them to one")


def _parts(written: ast.expr | None, around: ast.AST | None) -> list[ast.expr]:
    """The elements of a list, or all that the function puts into one."""
    if isinstance(written, (ast.List, ast.Tuple)):
        return [choice for element in written.elts for choice in _choices(element)]
    if not isinstance(written, ast.Name) or around is None:
        return []
    return [
        choice
        for node in all_nodes(around)
        for element in _put_into(written.id, node)
        for choice in _choices(element)
    ]


def _put_into(name: str, node: ast.AST) -> list[ast.expr]:
    """What a statement or a call puts into the list of this name."""
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
        return list(node.value.elts) if named and isinstance(node.value, ast.List) else []
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return []
    if not isinstance(node.func.value, ast.Name) or node.func.value.id != name:
        return []
    if node.func.attr in ("append", "insert"):
        return [node.args[-1]]
    given = node.args[0] if node.func.attr == "extend" else None
    return list(given.elts) if isinstance(given, (ast.List, ast.Tuple)) else []


def _choices(node: ast.expr) -> list[ast.expr]:
    """`a if c else b` may be either."""
    return [*_choices(node.body), *_choices(node.orelse)] if isinstance(node, ast.IfExp) else [node]


def _are_foreign(parts: list[ast.expr], around: ast.AST | None) -> bool:
    """Two arguments of a plain function: its callers may give anything."""
    if not isinstance(around, ast.FunctionDef):
        return False
    names = [argument.arg for argument in around.args.args]
    if names[:1] in (["self"], ["cls"]):
        return False
    used = [_root(part) for part in parts]
    return len({name for name in used if name in names}) > 1


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
