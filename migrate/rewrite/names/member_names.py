"""Members of layers that torch and MindSpore name differently, asked for by a text or compared with
None: `hasattr(m, "weight")`, `getattr(m, "bias", None)`, `bn.weight is not None`.

A norm's weight is gamma in MindSpore, and it is there even if affine=False.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.flow.absent_parameters import norms_may_lack_parameters
from migrate.pipeline.context import Context
from migrate.resolve.members import is_module_value
from migrate.resolve.values import UNKNOWN
from migrate.syntax.access import attribute_of, name_of
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

RENAMED = frozenset({"weight", "bias", "running_mean", "running_var"})
_HELPERS = {"hasattr": "has_member", "getattr": "member_of"}
_NORMS = (
    "torch.nn.BatchNorm",
    "torch.nn.GroupNorm",
    "torch.nn.InstanceNorm",
    "torch.nn.LayerNorm",
    "torch.nn.SyncBatchNorm",
    "torch.nn.modules.batchnorm.",
)


def member_helper(call: ast.Call, context: Context) -> str:
    """The helper that stands for hasattr or getattr; empty where they do as they are."""
    if not isinstance(call.func, ast.Name) or call.func.id not in _HELPERS or len(call.args) < 2:
        return ""
    owner, name = call.args[0], call.args[1]
    if not isinstance(name, ast.Constant) or name.value not in RENAMED:
        return ""
    if name_of(owner) == "self":
        return ""  # a class of the program has what it assigned
    value = context.type(owner)
    return _HELPERS[call.func.id] if value is UNKNOWN or is_module_value(value) else ""


def compared_with_none(partner: ast.AST | None, context: Context) -> bool:
    """`norm.weight is None`: whether torch's layer has one."""
    if not (
        isinstance(partner, ast.Compare)
        and len(partner.ops) == 1
        and isinstance(partner.ops[0], (ast.Is, ast.IsNot))
        and isinstance(partner.comparators[0], ast.Constant)
        and partner.comparators[0].value is None
        and attribute_of(partner.left) in RENAMED
    ):
        return False
    usage = context.usage(partner.left)
    return (
        usage is not None
        and usage.api.startswith(_NORMS)
        and norms_may_lack_parameters(context.modules.project)
    )


def unless_absent(updated: cst.Comparison, helper: str) -> cst.Comparison:
    return updated.with_changes(left=expression(f"{helper}({code(updated.left)})"))
