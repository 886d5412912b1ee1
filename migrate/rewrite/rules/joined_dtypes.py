"""torch.cat and its relatives promote: a mask joined to scores is a float. MindSpore's raise, and
in Graph mode they read one number's bits as another's.

Where all parts are of one dtype, or nothing is known of any, MindSpore's own function is called; a
part that is known to differ, or may, is left to a helper that looks. So is one that starts as an
empty vector (`out = torch.empty(0)`), which torch joins to tensors of any rank; and `ops.stack`
takes no Parameter beside other tensors in PyNative mode.
"""

from __future__ import annotations

import ast

from migrate.resolve.values import PARAMETER, ListOf, TupleOf, Value, options_of
from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule
from migrate.syntax.ast_index import all_nodes


@rule(
    becomes("torch.cat([x, y], 1)", "ops.cat([x, y], axis=1)"),
    becomes("torch.cat([x > 0, x.float()], 1)", "helpers.cat([x > 0, x.float()], 1)"),
    becomes("torch.cat([x > 0, y > 0])", "ops.cat([x > 0, y > 0])"),
    becomes("torch.cat([x > 0, y])", "helpers.cat([x > 0, y])"),
    becomes("torch.cat([x > 0 if k else x])", "helpers.cat([x > 0 if k else x])"),
    becomes("torch.cat([torch.empty(0), x])", "helpers.cat([ops.zeros(0), x])"),
)
def joined_dtypes(call: Call) -> None:
    written = call.sources.get("tensors")
    parts = _parts(written, call.around)
    if call.target.endswith(".stack") and _mixes_parameters(call.type("tensors")):
        raise Refusal("MindSpore stacks no Parameter with other tensors", "add 0 to it")
    if call.dtype_of is None or not parts:
        return
    kinds = {call.dtype_of(part) for part in parts}
    if len(kinds) > 1 or (kinds == {""} and _are_foreign(parts, call.around)):
        raise Refusal("the parts may have different dtypes", "cast them to one")
    if any(_may_be_empty(part, call.around) for part in parts):
        raise Refusal("one of the parts may be an empty vector", "start from the first part")


def _mixes_parameters(held: Value) -> bool:
    """`torch.stack([self.mean, scale * 2])`"""
    items = [
        item
        for option in options_of(held)
        if isinstance(option, (ListOf, TupleOf))
        for part in (option.items if isinstance(option, TupleOf) else [option.item])
        for item in options_of(part)
    ]
    return PARAMETER in items and any(item is not PARAMETER for item in items)


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


_MAKERS = ("empty", "zeros", "ones", "rand", "randn", "tensor", "as_tensor")


def _may_be_empty(part: ast.expr, around: ast.AST | None) -> bool:
    """torch.empty(0), torch.tensor([]).to(device), or a variable that starts as one."""
    if not isinstance(part, ast.Name):
        return _is_empty_vector(part)
    return around is not None and any(
        isinstance(target, ast.Name) and target.id == part.id and _is_empty_vector(value)
        for node in all_nodes(around)
        for target, value in _bindings(node)
    )


def _bindings(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment, each with what it is given."""
    if not isinstance(node, ast.Assign):
        return []
    pairs: list[tuple[ast.expr, ast.expr]] = []
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs += zip(target.elts, node.value.elts, strict=False)
        else:
            pairs.append((target, node.value))
    return pairs


def _is_empty_vector(node: ast.expr) -> bool:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if not isinstance(node.func.value, ast.Call):
            break
        node = node.func.value  # torch.empty(0).to(device)
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    if name.endswith("Tensor"):
        return not node.args or ast.unparse(node.args[0]) in ("0", "[]", "()")
    return (
        name in _MAKERS
        and len(node.args) == 1
        and ast.unparse(node.args[0]) in ("0", "[0]", "(0,)", "[]", "()")
    )


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
