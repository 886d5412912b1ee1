"""Steps that cannot be written as functions: gradients recorded while the program runs.

`policy.saved_log_probs` was computed in another function, `self.loss` in another method: no
function of the data gives that loss. MindSpore records operators in PyNative mode, and a file with
one such step takes all its gradients from the record.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.plan.find import Backward, Calls
from migrate.plan.project_flags import sets_requires_grad
from migrate.plan.training_step import Plans, TrainingStep


def plan_taped(
    plans: Plans, calls: Calls, refused: dict[int, Refusal], context: Context
) -> TrainingStep | None:
    """Give each call of a body with training steps its place; None if it has no backward pass."""
    names = {name for _, _, name in calls.steps} | {name for *_, name in calls.scaled_steps}
    first: TrainingStep | None = None
    for backward in calls.backwards:
        plan = _plan(backward, context)
        first = first or plan
        plans.statements[id(backward.statement)] = ("taped", plan, "")
        plans.handled.add(id(backward.call))
        if backward.scaler and isinstance(backward.loss, ast.Call):
            plans.handled.add(id(backward.loss))
        refusal = refused.get(id(backward))
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
    for statement, call, name in calls.steps:
        _note(plans, statement, call, "own_step", first, name)
    for statement, call, receiver in calls.zeros:
        weights = "parameters" if receiver in names or "opt" in receiver.lower() else ""
        _note(
            plans,
            statement,
            call,
            "own_zero",
            first,
            f"{receiver}.{weights or 'trainable_params()'}",
        )
    for statement, call, scaler, name in calls.scaled_steps:
        _note(plans, statement, call, "own_scaled_step", first, f"{scaler} {name}")
    for statement, call, scaler in calls.unscales:
        name = ast.unparse(call.args[0])
        _note(plans, statement, call, "own_unscale", first, f"{scaler} {name}")
    return first


def _plan(backward: Backward, context: Context) -> TrainingStep:
    return TrainingStep(
        backward,
        backward.optimizer,
        weights="",
        region=[],
        later=[],
        parameters=[],
        outputs=[],
        anchor=backward.statement,
        accumulates=True,
        may_freeze=sets_requires_grad(context.modules.project),
        on_parameters=True,
    )


def _note(
    plans: Plans, statement: ast.stmt, call: ast.Call, kind: str, plan: TrainingStep, detail: str
) -> None:
    plans.statements[id(statement)] = (kind, plan, detail)
    plans.handled.add(id(call))
