"""Steps that cannot be written as functions: gradients recorded while the program runs.

`policy.saved_log_probs` was computed in another function, `self.loss` in another method: no
function of the data gives that loss. MindSpore records operators in PyNative mode, and a file with
one such step takes all its gradients from the record.
"""

from __future__ import annotations

import ast

from migrate.flow.project_flags import sets_requires_grad
from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.plan.find import Backward, Calls
from migrate.plan.place import own_step, own_unscale
from migrate.plan.training_step import Plans, Role, TrainingStep


def plan_with_tape(
    plans: Plans, calls: Calls, refused: dict[ast.stmt, Refusal], context: Context
) -> TrainingStep | None:
    """Give each call of a body with training steps its role; None if it has no backward pass."""
    first: TrainingStep | None = None
    for backward in calls.backwards:
        step = _step(backward, context)
        first = first or step
        plans.note(backward.statement, backward.call, Role("tape", step))
        if backward.scaler and isinstance(backward.loss, ast.Call):
            plans.handled.add(backward.loss)
        refusal = refused.get(backward.statement)
        if refusal is not None:
            context.flag(
                backward.statement,
                refusal.code,
                f"{refusal.message}: gradients are recorded while the program runs, in PyNative "
                "mode only and by a name of MindSpore's own (helpers.backward)",
                refusal.next_step,
            )
    if first is None:
        return None
    for one in calls.steps:
        plans.note(one.statement, one.call, own_step(one, first))
    for zero in calls.zeros:
        plans.note(zero.statement, zero.call, Role("own_zero", first, zero.cleared))
    for one in calls.unscales:
        plans.note(one.statement, one.call, own_unscale(one, first))
    return first


def _step(backward: Backward, context: Context) -> TrainingStep:
    return TrainingStep(
        backward,
        backward.optimizer,
        weights="",
        region=[],
        deferred=[],
        parameters=[],
        outputs=[],
        anchor=backward.statement,
        accumulates=True,
        may_freeze=sets_requires_grad(context.modules.project),
        on_parameters=True,
    )
