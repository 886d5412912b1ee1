"""The weight of a Conv1d, which MindSpore keeps with a height of one: (out, in, 1, kernel).

As a whole it is the same parameter: an initialization, an optimizer or a change of every value
does not ask for its shape. Who looks at its axes gets it without the one in between.
"""

from __future__ import annotations

import ast
import builtins

from migrate.pipeline.context import Context
from migrate.syntax.access import is_read, is_store, name_of
from migrate.syntax.ast_index import all_nodes, nodes_of, parents_of

FLAT = ("torch.nn.Conv1d.weight", "torch.nn.ConvTranspose1d.weight")
_HEIGHT = 2  # the axis that torch's weight has not
_WITHOUT_SHAPE = frozenset(
    """
    device dtype fill_ grad is_leaf nelement normal_ numel requires_grad requires_grad_ uniform_
    zero_
    """.split()  # noqa: SIM905
)
_WHOLE_IN_CALLS = ("torch.nn.init.", "torch.nn.utils.", "torch.optim.")


def flattened_weights(tree: ast.Module, context: Context) -> set[ast.AST]:
    """Where such a weight is read by its axes; where its shape may be written to, a finding.

    Programs that list their parameters have layers with torch's shape (mappings/parameter_shapes).
    """
    row = context.table.get(FLAT[0])
    if row is None or row.status != "risky":
        return set()
    nodes = [
        usage.node
        for usage in context.usages.values()
        if any(api in FLAT for api in (usage.api, *usage.alternatives))
    ]
    if not nodes:
        return set()
    parents = parents_of(tree)
    found: set[ast.AST] = set()
    for node in nodes:
        use = _use(node, parents, tree, context)
        if use == "axes":
            found.add(node)
        elif use == "unclear":
            context.flag(
                node,
                "MS302",
                "the weight of MindSpore's Conv1d has the shape (out, in, 1, kernel)",
                "see that nothing here counts on three axes",
                FLAT[0],
            )
    return found


def _of_assignment(statement: ast.Assign, tree: ast.Module) -> str:
    names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
    changed = len(names) != len(statement.targets) or any(_is_changed(n, tree) for n in names)
    return "unclear" if changed else "axes"


def _use(node: ast.AST, parents: dict[ast.AST, ast.AST], tree: ast.Module, context: Context) -> str:
    """How a weight is used: as a "whole", by its "axes", or "unclear"."""
    parent = parents.get(node)
    while isinstance(parent, ast.Attribute) and parent.attr == "data":
        node, parent = parent, parents.get(parent)
    if isinstance(parent, ast.keyword):
        parent = parents.get(parent)
    if isinstance(parent, ast.Attribute):
        return _of_member(parent, parents)
    if isinstance(parent, ast.Call):
        return _of_argument(parent, context)
    if isinstance(parent, ast.Subscript):
        return "axes" if is_read(parent) else "unclear"
    if isinstance(parent, ast.Compare) and isinstance(parent.ops[0], (ast.Is, ast.IsNot)):
        return "whole"
    if isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare)):
        return "axes"
    if isinstance(parent, ast.Assign) and node is parent.value:
        return _of_assignment(parent, tree)
    kept = isinstance(parent, (ast.List, ast.Tuple, ast.Dict, ast.If, ast.BoolOp, ast.Delete))
    return "whole" if kept or is_store(node) else "unclear"


def _of_member(member: ast.Attribute, parents: dict[ast.AST, ast.AST]) -> str:
    """`weight.size(0)` is the same in both; `weight.mul_(mask)` asks for the mask's shape."""
    if member.attr in _WITHOUT_SHAPE:
        return "whole"
    around = parents.get(member)
    if member.attr.endswith("_"):
        numbers = isinstance(around, ast.Call) and all(
            isinstance(a, (ast.Constant, ast.UnaryOp)) for a in around.args
        )
        return "whole" if numbers else "unclear"
    if member.attr == "shape" and isinstance(around, ast.Subscript):
        return "whole" if _is_before_height(around.slice) else "axes"
    if member.attr == "size" and isinstance(around, ast.Call) and around.args:
        return "whole" if _is_before_height(around.args[0]) else "axes"
    return "axes"


def _is_before_height(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value in range(_HEIGHT)


def _of_argument(call: ast.Call, context: Context) -> str:
    usage = context.usage(call.func)
    if usage is not None:
        axes = usage.api == "torch.nn.init.dirac_" or not usage.api.startswith(_WHOLE_IN_CALLS)
        return "axes" if axes else "whole"
    builtin = isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id)
    return "whole" if builtin else "unclear"


def _is_changed(name: str, tree: ast.Module) -> bool:
    """The name's value may be changed in place somewhere in the file."""
    return any(
        name_of(inner) == name
        for node in nodes_of(tree, ast.Subscript, ast.Attribute)
        if not is_read(node) or getattr(node, "attr", "").endswith("_")
        for inner in all_nodes(node)
    )
