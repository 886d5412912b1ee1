"""Which statements of a function belong to which training step, and as what."""

from __future__ import annotations

import ast

from migrate.plan.contributors import clips_all, zeroed_optimizer
from migrate.plan.find import Calls
from migrate.plan.training_step import Plans, TrainingStep


def assign_statements(plan: TrainingStep, calls: Calls, plans: Plans) -> None:
    backward = plan.backward
    if plan.host is not None:
        if plan.instead is None:
            plans.statements[id(plan.host)] = ("host", plan, "")
        plans.statements[id(backward.statement)] = ("inner_backward", plan, "")
    else:
        plans.statements[id(backward.statement)] = ("backward", plan, "")
    plans.handled.add(id(backward.call))
    if backward.scaler and isinstance(backward.loss, ast.Call):
        plans.handled.add(id(backward.loss))
    if backward.others:
        _claim_each(plan, calls, plans)
    else:
        _assign_updates(plan, calls, plans)


def _assign_updates(plan: TrainingStep, calls: Calls, plans: Plans) -> None:
    """The statements around the backward pass: steps, zero_grad, unscaling, clipping."""
    for statement, call, name in calls.steps:
        if name == plan.optimizer and _is_near(statement, plan):
            _note(plans, statement, call, "step", plan, name)
    for statement, call, scaler, name in calls.scaled_steps:
        if name == plan.optimizer and _is_near(statement, plan):
            _note(plans, statement, call, "scaled_step", plan, scaler)
    for statement, call, receiver in calls.zeros:
        if zeroed_optimizer(statement, receiver, calls) == plan.optimizer:
            if _is_near(statement, plan):
                early = statement.lineno < plan.anchor.lineno
                _note(plans, statement, call, "early_zero" if early else "zero", plan, "")
            elif id(statement) not in plans.statements:
                _note(plans, statement, call, "early_zero", plan, "")
    for statement, call, scaler in calls.unscales:
        if ast.unparse(call.args[0]) == plan.optimizer and _is_near(statement, plan):
            _note(plans, statement, call, "unscale", plan, scaler)
    if plan.on_parameters:
        return  # clipped where they lie
    for statement, call, kind in calls.clips:
        if statement.lineno > plan.backward.statement.lineno and _is_near(statement, plan):
            listed = call.args[0] if call.args else call.keywords[0].value
            whole = clips_all(listed, plan.optimizer, plans.models, plan.running)
            _note(plans, statement, call, kind, plan, "" if whole else "some")


def _claim_each(plan: TrainingStep, calls: Calls, plans: Plans) -> None:
    """Several optimizers: gradients lie at the parameters, and each looks for its own."""
    names = (plan.optimizer, *plan.backward.others)
    for statement, call, name in calls.steps:
        if name in names and _is_near(statement, plan):
            _note(plans, statement, call, "own_step", plan, name)
    for statement, call, receiver in calls.zeros:
        weights = "parameters" if receiver in names else "trainable_params()"
        _note(plans, statement, call, "own_zero", plan, f"{receiver}.{weights}")
    for statement, call, scaler, name in calls.scaled_steps:
        if name in names and _is_near(statement, plan):
            _note(plans, statement, call, "own_scaled_step", plan, f"{scaler} {name}")
    for statement, call, scaler in calls.unscales:
        name = ast.unparse(call.args[0])
        if name in names and _is_near(statement, plan):
            _note(plans, statement, call, "own_unscale", plan, f"{scaler} {name}")


def _is_near(statement: ast.stmt, plan: TrainingStep) -> bool:
    """In the same loop as the backward pass: other loops have steps of their own."""
    return plan.near is None or any(node is statement for node in ast.walk(plan.near))


def _note(
    plans: Plans, statement: ast.stmt, call: ast.Call, kind: str, plan: TrainingStep, detail: str
) -> None:
    """The last plan that claims a statement is the nearest one before it."""
    plans.statements[id(statement)] = (kind, plan, detail)
    plans.handled.add(id(call))
