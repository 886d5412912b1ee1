"""`with autocast():` in a training step: one that holds for the whole forward function becomes its
decorator.

Compiled code takes no notice of a block, and a compiled function can be marked. A block that
holds for a part stays a block: that step runs in PyNative mode, and says so.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.flow.low_precision import computes_low
from migrate.flow.names import binds, reads
from migrate.pipeline.context import Context
from migrate.plan.training_step import TrainingStep
from migrate.resolve.members import is_module_value
from migrate.rewrite.steps.step_state import StepState
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.text import code

_LOSS = ("loss", "criterion", "crit")


def precision_of_step(plan: TrainingStep, steps: StepState, context: Context) -> str | None:
    """The name of the context, or "" for a call, if the whole step may compute under it."""
    blocks = [s for s in plan.region if isinstance(s, ast.With) and _item(s, steps)]
    items = {ast.unparse(block.items[0].context_expr) for block in blocks}
    if len(items) != 1:
        return None
    item = blocks[0].items[0].context_expr
    changing = {*plan.parameters, *(name for s in plan.region for name in binds(s))}
    if plan.loop is not None:
        changing |= binds(plan.loop)
    if reads(item) & changing:
        return None
    others = [s for s in plan.region if s not in blocks]
    outside = (*others, plan.backward.bare)
    if any(_runs_network(s, context) or computes_low(s, context.flow) for s in outside):
        return None
    return "" if steps.is_autocast(item) else ast.unparse(item)


def _item(block: ast.With, steps: StepState) -> bool:
    """A block of autocast() alone, also of one that is held in a variable."""
    if len(block.items) != 1 or block.items[0].optional_vars is not None:
        return False
    item = block.items[0].context_expr
    return steps.is_autocast(item) or ast.unparse(item) in steps.held_contexts


def _runs_network(statement: ast.AST, context: Context) -> bool:
    """A network is called, and no loss: outside of the block torch computes it in float32."""
    return any(
        isinstance(node, ast.Call)
        and is_module_value(context.type(node.func))
        and not any(word in ast.unparse(node.func).lower() for word in _LOSS)
        for node in all_nodes(statement)
    )


def without_blocks(
    region: list[cst.BaseStatement], helper: str, name: str
) -> tuple[list[cst.BaseStatement], str]:
    """The statements with those blocks opened, and what their functions are decorated with."""
    found: list[cst.BaseStatement] = []
    text = ""
    for statement in region:
        item = code(statement.items[0].item) if isinstance(statement, cst.With) else ""
        if item and (item == name or (not name and item.startswith(f"{helper}("))):
            assert isinstance(statement, cst.With)
            body = statement.body
            inner: list[cst.BaseStatement] = (
                list(body.body) if isinstance(body, cst.IndentedBlock) else [statement]
            )
            inner[0] = inner[0].with_changes(
                leading_lines=[*statement.leading_lines, *getattr(inner[0], "leading_lines", ())]
            )
            found += inner
            text = item
        else:
            found.append(statement)
    # A held context may be no autocast(): nullcontext() decorates nothing.
    return found, f"{helper}.of({text})" if text and name else text
