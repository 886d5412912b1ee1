"""Where a step stands, where its gradients are stored, and what becomes of the statements around
it: steps, zero_grad, clipping, unscaling.
"""

from __future__ import annotations

import ast

from migrate.flow.blocks import Home, Loop, innermost_loop, loops_around, outermost_loop
from migrate.flow.late_bindings import is_made_later
from migrate.flow.names import binds, reads
from migrate.plan.find import Backward, Calls, StepCall
from migrate.plan.optimizers import clips_all, is_whole
from migrate.plan.training_step import Plans, Role, TrainingStep
from migrate.syntax.ast_index import all_nodes


def step_loop(home: Home, backward: Backward, code: set[str]) -> Loop | None:
    """The outermost loop around the step that does not itself make what the step is built of.

    `for fold in folds: model = Net(); ...`: each fold has a forward function of its own.
    """
    loops = loops_around(home.body, backward.statement)
    return next((loop for loop in loops if not binds(loop) & code), None)


def surrounding_loop(home: Home, backward: Backward, loop: Loop | None) -> Loop | None:
    """The loop in front of which the function stands, or the one in which it is made anew."""
    return loop or innermost_loop(home.body, backward.statement)


def sharing(
    backward: Backward, calls: Calls, home: Home, loop: Loop | None, guard: ast.If | None
) -> list[Backward]:
    """The backward passes whose gradients add up for the same optimizer."""
    branches = [] if guard is None else [guard.body, guard.orelse]
    return [
        b
        for b in calls.backwards
        if b is backward or not any(b.block is branch for branch in branches)
        if b.optimizer == backward.optimizer and _is_together(b, backward, loop, home)
    ]


def _is_together(other: Backward, backward: Backward, loop: Loop | None, home: Home) -> bool:
    """Whether the two share a forward function's place, and with it the store of gradients."""
    if loop is not None:
        return loop in loops_around(home.body, other.statement)
    around_both = outermost_loop(home.body, backward.statement)
    return outermost_loop(home.body, other.statement) is around_both


def is_cleared_each_time(blocks: list[list[ast.stmt]], calls: Calls, optimizer: str) -> bool:
    """zero_grad, backward and step each once, unconditionally, in one block: plain gradients
    will do. Where another function clears, gradients lie at the parameters (flow/gradient_calls).
    """
    here = {statement for block in blocks for statement in block}
    clearing = [zero for zero in calls.zeros if calls.zeroed_optimizer(zero) == optimizer]
    steps = any(s.name == optimizer and s.statement in here for s in calls.steps)
    return steps and any(zero.statement in here for zero in clearing)


def is_settled(guard: ast.If | None, loop: Loop | None) -> bool:
    """The test around the backward pass is known in front of the loop."""
    return guard is not None and (loop is None or not reads(guard.test) & binds(loop))


# Roles -------------------------------------------------------------------------------------------


def assign_roles(step: TrainingStep, calls: Calls, plans: Plans) -> None:
    """Say of each statement that belongs to the step what it is to it."""
    backward = step.backward
    if step.guard is not None:
        if step.instead is None:
            plans.roles[step.guard] = Role("guard", step)
        plans.roles[backward.statement] = Role("inner_backward", step)
    else:
        plans.roles[backward.statement] = Role("backward", step)
    plans.handled.add(backward.call)
    if backward.scaler and isinstance(backward.loss, ast.Call):
        plans.handled.add(backward.loss)
    if backward.others or step.beside:
        _assign_each(step, calls, plans)
    else:
        _assign_updates(step, calls, plans)


def _assign_updates(step: TrainingStep, calls: Calls, plans: Plans) -> None:
    """The statements around the backward pass: steps, zero_grad, unscaling, clipping."""
    follows = calls.flow.cfg.follows
    for one in calls.steps:
        if one.name == step.optimizer and _is_near(one, step, plans):
            kind = "scaled_step" if one.scaler else "step"
            plans.note(one.statement, one.call, Role(kind, step, one.scaler or one.name))
    for zero in calls.zeros:
        if calls.zeroed_optimizer(zero) != step.optimizer:
            continue
        if _is_near(zero, step, plans):
            early = follows(zero.statement, step.anchor)
            plans.note(zero.statement, zero.call, _clearing(zero, early, step, calls, plans))
        elif zero.statement not in plans.roles and step.near is not None:
            plans.note(zero.statement, zero.call, _clearing(zero, True, step, calls, plans))
    for one in calls.unscales:
        if one.name == step.optimizer and _is_near(one, step, plans):
            plans.note(one.statement, one.call, Role("unscale", step, one.scaler))
    if step.on_parameters:
        return  # clipped where they lie
    for clip in calls.clips:
        if follows(step.backward.statement, clip.statement) and _is_near(clip, step, plans):
            call = clip.call
            clipped = call.args[0] if call.args else call.keywords[0].value
            whole = clips_all(clipped, step.optimizer, plans.models, step.running)
            plans.note(clip.statement, call, Role(clip.name, step, "" if whole else "some"))


def _clearing(zero: StepCall, early: bool, step: TrainingStep, calls: Calls, plans: Plans) -> Role:
    """What clears: the step's own store, or, in front of it, that of the optimizer or, where
    gradients lie at parameters, whatever the receiver has.
    """
    later = early and is_made_later(step.optimizer, zero.statement, calls.flow)
    whole = is_whole(zero.name, step.optimizer, plans.models, step.running)
    own = zero.by_network and _is_trained(zero.name, plans) and (early or not whole)
    if step.on_parameters and (own or later):
        return Role("own_zero", step, zero.cleared)
    if later:
        return Role("no_zero", step)  # nor are there gradients beside it
    return Role("early_zero" if early else "zero", step)


def _is_trained(network: str, plans: Plans) -> bool:
    """A step runs it, or an optimizer was made with it: no class of the program's own with a
    zero_grad().
    """
    running = [name for step in plans.steps for name in step.running]
    return any(f"{name}.".startswith(f"{network}.") for name in running) or any(
        network in held for held in plans.models.values()
    )


def _assign_each(step: TrainingStep, calls: Calls, plans: Plans) -> None:
    """Several optimizers: gradients lie at the parameters, and each looks for its own."""
    names = (step.optimizer, *step.backward.others)
    for one in calls.steps:
        if one.name in names and _is_near(one, step, plans):
            plans.note(one.statement, one.call, own_step(one, step))
    for zero in calls.zeros:
        plans.note(zero.statement, zero.call, Role("own_zero", step, zero.cleared))
    for one in calls.unscales:
        if one.name in names and _is_near(one, step, plans):
            plans.note(one.statement, one.call, own_unscale(one, step))


def own_step(one: StepCall, step: TrainingStep) -> Role:
    """A step with the gradients that lie at the optimizer's own parameters."""
    if one.scaler:
        return Role("own_scaled_step", step, f"{one.scaler} {one.name}")
    return Role("own_step", step, one.name)


def own_unscale(one: StepCall, step: TrainingStep) -> Role:
    return Role("own_unscale", step, f"{one.scaler} {one.name}")


def _is_near(one: StepCall, step: TrainingStep, plans: Plans) -> bool:
    """In the same loop as the backward pass: other loops have steps of their own."""
    if step.near is None:
        earlier = plans.roles.get(one.statement)
        return earlier is None or earlier.step.near is None
    return one.statement in set(all_nodes(step.near))


# Names -------------------------------------------------------------------------------------------


def name_step(step: TrainingStep, siblings: list[TrainingStep], taken: set[str]) -> None:
    """Names that nothing else in the function has."""
    suffix = f"_{len(siblings) + 1}" if siblings else ""
    for field_name in ("forward_name", "grad_name", "grads_name", "store_name"):
        name = getattr(step, field_name) + suffix
        while name in taken:
            name += "_"
        setattr(step, field_name, name)
    if step.unused:
        step.grads_name = "_"
    if step.instead is not None:  # one of both gives the gradients that the optimizer uses
        step.grads_name, step.store_name = step.instead.grads_name, step.instead.store_name
    if not step.owns_store:
        owners = (s for s in siblings if s.optimizer == step.optimizer and s.loop is step.loop)
        # Where the owner was refused, the whole file is recorded and no store is written.
        step.store_name = next((s.store_name for s in owners), step.store_name)
