"""Where a backward pass starts: ones, in the many ways in which programs write them."""

from __future__ import annotations

import ast

from migrate.plan.names import binds, statements_below

_ONES = frozenset({"ones", "ones_like", "new_ones"})
_SAME_VALUES = frozenset(
    {"to", "cuda", "cpu", "type", "float", "double", "half", "type_as", "detach", "clone"}
    | {"requires_grad_", "expand", "expand_as", "view", "reshape", "contiguous"}
)


def is_ones(value: ast.expr, body: list[ast.stmt]) -> bool:
    """`torch.ones_like(d)`, `Variable(torch.ones(n, 1), requires_grad=False)`, a variable that
    was given one of them and nothing else.
    """
    if isinstance(value, ast.Constant):
        return value.value is None
    if isinstance(value, ast.List | ast.Tuple):
        return all(is_ones(part, body) for part in value.elts)
    if isinstance(value, ast.IfExp):
        return is_ones(value.body, body) and is_ones(value.orelse, body)
    if isinstance(value, ast.Name):
        return _is_bound_to_ones(value.id, body)
    if not isinstance(value, ast.Call):
        return False
    function = value.func
    name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
    if name in _ONES:
        return True
    if name == "Variable" and value.args:
        return is_ones(value.args[0], body)
    if name == "fill_" and len(value.args) == 1:
        return isinstance(value.args[0], ast.Constant) and value.args[0].value == 1
    if (name == "full" and len(value.args) > 1) or (name == "full_like" and len(value.args) > 1):
        return isinstance(value.args[1], ast.Constant) and value.args[1].value == 1
    return (
        name in _SAME_VALUES
        and isinstance(function, ast.Attribute)
        and is_ones(function.value, body)
    )


def _is_bound_to_ones(name: str, body: list[ast.stmt]) -> bool:
    giving = [s for _, s in statements_below(body) if not _blocks(s) and name in _touched(s)]
    return bool(giving) and all(
        isinstance(s, ast.Assign)
        and all(isinstance(target, ast.Name) for target in s.targets)
        and (is_ones(s.value, [other for other in giving if other is not s]))
        for s in giving
    )


def _blocks(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If | ast.With | ast.Try)


def _touched(statement: ast.stmt) -> set[str]:
    """Names that it binds, or whose value it may change."""
    found = binds(statement)
    for node in ast.walk(statement):
        root = node.value if isinstance(node, ast.Subscript | ast.Attribute) else None
        changed = isinstance(getattr(node, "ctx", None), ast.Store)
        in_place = isinstance(node, ast.Attribute) and node.attr.endswith("_")
        if isinstance(root, ast.Name) and (changed or in_place):
            found.add(root.id)
    return found


def summed(outputs: ast.expr) -> ast.expr:
    """`pred` of `pred.sum()`: its gradients are the same."""
    if not isinstance(outputs, ast.Call) or outputs.keywords:
        return outputs
    function = outputs.func
    if isinstance(function, ast.Attribute) and function.attr == "sum":
        if not outputs.args and isinstance(function.value, ast.Name):
            return function.value
        torch_sum = ast.unparse(function) == "torch.sum" and len(outputs.args) == 1
        if torch_sum and isinstance(outputs.args[0], ast.Name):
            return outputs.args[0]
    return outputs
