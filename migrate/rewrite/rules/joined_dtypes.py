"""torch.cat and its relatives promote: a mask joined to scores is a float. MindSpore's raise, and
in Graph mode they read one number's bits as another's.

Where all parts are of one dtype, or nothing is known of any, MindSpore's own function is called; a
part that is known to differ, or may, is left to a helper that looks.
"""

from __future__ import annotations

import ast

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule


@rule(
    becomes("torch.cat([x, y], 1)", "ops.cat([x, y], axis=1)"),
    becomes("torch.cat([x > 0, x.float()], 1)", "helpers.cat([x > 0, x.float()], 1)"),
    becomes("torch.cat([x > 0, y > 0])", "ops.cat([x > 0, y > 0])"),
    becomes("torch.cat([x > 0, y])", "helpers.cat([x > 0, y])"),
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
    """The elements of a list, or all that the function appends to one."""
    if isinstance(written, ast.List | ast.Tuple):
        return list(written.elts)
    if not isinstance(written, ast.Name) or around is None:
        return []
    return [
        node.args[0]
        for node in ast.walk(around)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == written.id
        and node.args
    ]


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
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
