"""What a write to a tensor becomes: an assignment, ops.assign, or the call of a helper."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.nodes import atomic, expression
from migrate.syntax.text import code


def assigned(
    parameter: cst.BaseExpression, value: cst.BaseExpression, spelling: ImportPlanner
) -> cst.Call:
    """ops.assign and not set_data: after that, optimizers and compiled steps go on with the old
    memory.
    """
    function = expression(spelling.name("mindspore.ops.assign"))
    bare = value if isinstance(value, cst.Tuple) else value.with_changes(lpar=[], rpar=[])
    return cst.Call(func=function, args=[cst.Arg(parameter), cst.Arg(bare)])


def changed_in_place(
    changed: cst.BaseAssignTargetExpression, value: cst.BaseExpression, spelling: ImportPlanner
) -> cst.Assign:
    """For a name that may hold a Parameter, or a tensor that was computed."""
    return _helped("changed_in_place", changed, [value], spelling)


def detached_in_place(changed: cst.Name, spelling: ImportPlanner) -> cst.Assign:
    """`p.detach_()` of such a name."""
    return _helped("detached_in_place", changed, [], spelling)


def augmented(node: cst.AugAssign, spelling: ImportPlanner) -> cst.Assign:
    """`self.sum += loss` where that may be a number still."""
    return _helped("augmented", node.target, [operation(node)], spelling)


def _helped(
    helper: str,
    target: cst.BaseAssignTargetExpression,
    values: Sequence[cst.BaseExpression],
    spelling: ImportPlanner,
) -> cst.Assign:
    """`x = helpers.changed_in_place(x, ...)`."""
    function = expression(spelling.name(f"helpers.{helper}"))
    new = cst.Call(func=function, args=[cst.Arg(part) for part in (target, *values)])
    return cst.Assign(targets=[cst.AssignTarget(target)], value=new)


def without_gradient(parameter: cst.BaseExpression) -> cst.Assign:
    """`p.requires_grad = False`."""
    flag = cst.Attribute(value=atomic(parameter), attr=cst.Name("requires_grad"))
    return cst.Assign(targets=[cst.AssignTarget(flag)], value=cst.Name("False"))


def operation(node: cst.AugAssign) -> cst.BinaryOperation:
    """`x + y` of `x += y`."""
    sign = code(node.operator).strip().rstrip("=")
    new = expression(f"_ {sign} (_)")
    assert isinstance(new, cst.BinaryOperation)
    return new.with_changes(left=node.target, right=atomic(node.value))


def assign_targets(
    changed: cst.BaseExpression | None, names: Sequence[str]
) -> list[cst.AssignTarget]:
    """`y = x = ...`: every name of the tensor that changed."""
    own = [] if changed is None else [changed]
    return [cst.AssignTarget(part) for part in (*own, *map(cst.Name, names))]  # type: ignore[arg-type]
