"""Does this run an operator that autocast computes in lower precision?

with autocast():
    z = model(x)
loss = (z.float() @ z.float().t()).mean()    # in float32: it stands outside
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow import Flow

# torch's list, by the last part of the names; layers of these call them.
_LOWER = frozenset(
    """
    addbmm addmm addmv addr baddbmm bilinear bmm chain_matmul conv1d conv2d conv3d conv_tbc
    conv_transpose1d conv_transpose2d conv_transpose3d dot einsum inner linear matmul mm multi_dot
    mv outer prelu scaled_dot_product_attention tensordot vdot vecdot
    """.split()  # noqa: SIM905
)


def computes_low(node: ast.AST, flow: Flow) -> bool:
    """Here, or in a function of the program that is called from here."""
    calls = [one for one in all_nodes(node) if isinstance(one, ast.Call)]
    roots = [target for call in calls for target in flow.calls.targets(call)]
    bodies = [function.node for function in flow.calls.reachable(roots)]
    return any(_is_low(one, flow) for part in (node, *bodies) for one in _operators(part))


def _operators(part: ast.AST) -> Iterator[ast.BinOp | ast.AugAssign | ast.Call]:
    for node in all_nodes(part):
        if isinstance(node, (ast.BinOp, ast.AugAssign, ast.Call)):
            yield node


def _is_low(node: ast.BinOp | ast.AugAssign | ast.Call, flow: Flow) -> bool:
    if not isinstance(node, ast.Call):
        return isinstance(node.op, ast.MatMult)
    api = flow.symbols.api(node.func)
    return bool(api) and api.startswith("torch.") and api.rpartition(".")[2] in _LOWER
