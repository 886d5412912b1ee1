"""Plan the training steps of a file: find, slice, interface, place."""

from __future__ import annotations

import ast

from migrate.flow.blocks import Home, own_calls
from migrate.flow.gradient_calls import gradients_cross_functions
from migrate.flow.models import models_called
from migrate.flow.names import binds, reads
from migrate.flow.parameter_use import may_use_parameters, runs_forward
from migrate.flow.project_flags import adds_groups, sets_requires_grad
from migrate.flow.region import surely_binds
from migrate.flow.replaced_members import may_be_replaced
from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.plan.apart import note_apart
from migrate.plan.captured_names import refuse_captures
from migrate.plan.find import Backward, Calls, find_calls
from migrate.plan.gradient_users import (
    are_read,
    are_unused,
    keeps_gradients,
    listed_weights,
    trained_beside,
    trained_in,
)
from migrate.plan.input_gradients import GRAD
from migrate.plan.interface import Interface, Versions, changed_in_part, find_versions
from migrate.plan.mode import Switches, plan_modes
from migrate.plan.optimizers import may_reach, optimizers_reached, trained_models
from migrate.plan.outside import computed_outside
from migrate.plan.place import (
    assign_roles,
    is_cleared_each_time,
    is_settled,
    name_step,
    sharing,
    step_loop,
    surrounding_loop,
)
from migrate.plan.recorded import asks_tensors, flag_record, leaves_apart
from migrate.plan.slice import Slicer, around, leaves
from migrate.plan.tape_fallback import plan_with_tape
from migrate.plan.tensor_gradients import plan_tensor_gradients
from migrate.plan.training_step import Plans, TrainingStep
from migrate.syntax.ast_index import all_nodes, nodes_of


def plan_steps(tree: ast.Module, context: Context, taken: set[str]) -> Plans:
    """Plan every function of the file that calls backward()."""
    homes: list[Home] = [tree]
    homes += nodes_of(tree, ast.FunctionDef, ast.AsyncFunctionDef)
    plans = Plans()
    if not _has_gradients(tree, context) and asks_tensors(tree, context, []) is None:
        plans.switches = plan_modes(tree, homes, set(), context)
        # Gradients that another file computes lie at the parameters.
        plans.on_parameters = gradients_cross_functions(context.modules.project)
        note_apart(plans, [find_calls(home, context) for home in homes])
        return plans
    calls_of = {home: find_calls(home, context) for home in homes}
    plans.gradients = plan_tensor_gradients(homes, calls_of, context, taken)
    recorded = asks_tensors(tree, context, plans.gradients)
    recorded = recorded or leaves_apart(tree, list(calls_of.values()), context)
    models = trained_models(tree)
    for calls in calls_of.values():
        calls.models = models
        _note_others(calls, models, context)
    training: set[ast.AST] = {home for home, calls in calls_of.items() if calls.backwards}
    plans.switches = plan_modes(tree, homes, training, context)
    plans.on_parameters = keeps_gradients(tree, list(calls_of.values()), context)
    plans.are_read = plans.on_parameters and are_read(tree, context)
    plans.models = models
    refused: dict[ast.stmt, Refusal] = {}
    for home, calls in calls_of.items():
        refused |= _plan_home(home, calls, plans, context, taken)
    if not refused and recorded is None:
        note_apart(plans, calls_of.values())
        return plans
    if recorded is not None and not refused:
        flag_record(recorded, context)
    calls_of = {home: find_calls(home, context) for home in homes}
    plans = _tape(calls_of, refused, plans.switches, context)
    note_apart(plans, calls_of.values())
    return plans


def _has_gradients(tree: ast.Module, context: Context) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == "backward"
        for node in nodes_of(tree, ast.Attribute)
    ) or any(usage.api == GRAD for usage in context.usages.values())


def _plan_home(
    home: Home, calls: Calls, plans: Plans, context: Context, taken: set[str]
) -> dict[ast.stmt, Refusal]:
    """Plan the backward passes of one function; those that are refused, with the reason."""
    siblings: list[TrainingStep] = []
    refused: dict[ast.stmt, Refusal] = {}
    for backward in calls.backwards:
        planner = StepPlanner(
            backward, calls, home, context, plans.on_parameters, _freed(siblings, backward), taken
        )
        planner.are_read = plans.are_read
        try:
            step = planner.plan()
        except Refusal as refusal:
            refused[backward.statement] = refusal
            continue
        step.may_freeze = sets_requires_grad(context.modules.project)
        step.instead = _other_branch(step, siblings)
        name_step(step, siblings, taken)
        _flag_shared(step, siblings, context)
        siblings.append(step)
        plans.steps.append(step)
        assign_roles(step, calls, plans)
        plans.accumulates |= step.accumulates
    if siblings:
        siblings[0].switched = plans.switches.of_home.get(home, [])
    return refused


def _note_others(calls: Calls, models: dict[str, set[str]], context: Context) -> None:
    """Other optimizers that step with the gradients of a backward pass."""
    for backward in calls.backwards:
        names = optimizers_reached(backward, calls, models)
        if len(names) < 2:
            continue
        at = backward.block.index(backward.statement)
        slicer = Slicer(backward, calls, context, set())
        region = slicer.region(backward.block, at)
        apart = slicer.detached(region)
        parts = [part for part in (*region, backward.bare) if part not in apart]
        found = [name for name in names if may_reach(name, parts, models)]
        backward.others = tuple(name for name in found if name != backward.optimizer)


def _tape(
    calls_of: dict[Home, Calls],
    refused: dict[ast.stmt, Refusal],
    switches: Switches,
    context: Context,
) -> Plans:
    """One step that is no function makes the whole file take its gradients from a record."""
    plans = Plans(tape=True, accumulates=True, on_parameters=True, switches=switches)
    for home, calls in calls_of.items():
        step = plan_with_tape(plans, calls, refused, context)
        # There is no forward function in front of which a model could be switched.
        switches.all_cells |= step is not None and bool(switches.of_home.get(home))
    return plans


def _flag_shared(step: TrainingStep, siblings: list[TrainingStep], context: Context) -> None:
    """Two losses that share a forward pass: each forward function computes it for itself."""
    before = {s for other in siblings if other is not step.instead for s in other.region}
    for statement in step.region:
        if statement in before and runs_forward(statement, context.flow):
            context.flag(
                statement,
                "MS408",
                "is computed in two forward functions: BatchNorm sees the batch twice",
                "put both losses into one backward() if that matters",
            )


def _freed(siblings: list[TrainingStep], backward: Backward) -> set[ast.stmt]:
    """Statements through which an earlier backward pass has gone: torch has dropped that graph,
    and what they computed is data from there on.
    """
    return {
        statement
        for step in siblings
        if not step.backward.retains and step.backward.block is backward.block
        for statement in step.flowing
    }


def _other_branch(step: TrainingStep, siblings: list[TrainingStep]) -> TrainingStep | None:
    """The step that is taken where this one is not: it stands in the same `if`."""
    return next((s for s in siblings if s.guard is not None and s.guard is step.guard), None)


class StepPlanner:
    """Plans one backward pass."""

    def __init__(
        self,
        backward: Backward,
        calls: Calls,
        home: Home,
        context: Context,
        on_parameters: bool,
        freed: set[ast.stmt],
        taken: set[str],
    ) -> None:
        self.backward, self.calls, self.home, self.context = backward, calls, home, context
        self.on_parameters, self.taken = on_parameters, taken
        self.are_read = False  # the program looks at gradients, of whatever the loss reaches
        self.flow = calls.flow
        self.slicer = Slicer(backward, calls, context, freed)
        self.block = backward.block
        self.guard: ast.If | None = None  # decides whether there is a backward pass at all

    def plan(self) -> TrainingStep:
        backward, home = self.backward, self.home
        self._check_call()
        unused = self._is_unused()
        region, deferred = self._slice()
        apart = self.slicer.detached(region)
        region = [statement for statement in region if statement not in apart]
        self._check_region(region)
        interface = Interface(backward, region, deferred, home, self.context)
        weights = self._weights(interface)
        versions = self._versions(region, deferred)
        code = interface.code(weights)
        loop = step_loop(home, backward, code)
        parameters = interface.parameters(code, loop)
        outputs = interface.outputs(parameters)
        passed = interface.passed_by(parameters, outputs)
        parameters += passed
        together = sharing(backward, self.calls, home, loop, self.guard)
        return TrainingStep(
            backward,
            backward.optimizer,
            weights,
            region,
            deferred,
            parameters,
            [*outputs, *versions.names],
            anchor=loop or (region[0] if region else backward.statement),
            accumulates=not unused and self._accumulates(len(together) > 1),
            owns_store=self.on_parameters or together[0] is backward,
            loop=loop,
            near=surrounding_loop(home, backward, loop),
            guard=self.guard,
            on_parameters=self.on_parameters,
            unused=unused,
            detached=apart,
            flowing=self.slicer.flowing(region),
            versions=versions,
            running=self._running(region),
            beside=bool(self._beside(region)),
            unbound=interface.unbound(parameters, passed),
            copied=changed_in_part(region, parameters, self.context),
            settled=is_settled(self.guard, loop),
            may_skip=any(map(leaves, deferred)),
        )

    def _check_call(self) -> None:
        if self.backward.call.args:
            raise Refusal("backward(gradient) starts from another gradient than one", "", "MS408")
        for keyword in self.backward.call.keywords:
            absent = isinstance(keyword.value, ast.Constant) and not keyword.value.value
            if keyword.arg == "retain_graph" or absent:
                continue
            steps = {
                "create_graph": "leave it out where no gradient of a gradient is taken",
                "gradient": "multiply the loss by that gradient and sum it",
            }
            raise Refusal(
                f"backward({keyword.arg}=...) has no counterpart",
                steps.get(keyword.arg or "", ""),
                "MS306",
            )

    def _is_unused(self) -> bool:
        """Nobody uses these gradients; without an optimizer there must be a reason."""
        unused = not self.backward.optimizer and not self.on_parameters
        if not unused:
            return False
        models = models_called(own_calls(self.home.body), self.context.flow)
        if not are_unused(self.backward, self.calls, self.home.body, models, self.context):
            raise _no_step()
        return True

    def _slice(self) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The statements of the step, and those between that go behind it."""
        backward, block = self.backward, self.backward.block
        region, deferred = self.slicer.slice(block, block.index(backward.statement))
        if region or may_use_parameters(backward.bare, self.context.flow):
            return region, deferred
        # `if training: loss.backward()`: the loss is computed in the block around.
        self.block, at, self.guard = around(self.home.body, backward)
        region, deferred = self.slicer.slice(self.block, at)
        if self.guard is not None and reads(self.guard.test) & {
            name for statement in region for name in self.flow.names.changes(statement)
        }:
            region = []
        if not region:
            self._refuse_unknown()
            raise Refusal(
                "the statements that compute the loss are not in the same block as backward()",
                "compute the loss and call backward() side by side",
                "MS408",
            )
        return region, deferred

    def _refuse_unknown(self) -> None:
        names = self.slicer.unknown_callees(self.backward.block)
        if names:
            raise Refusal(
                f"nothing is known of {', '.join(names)}: a network, or a function of data",
                f"annotate what is passed in: `{names[0]}: nn.Module`",
                "MS408",
            )

    def _check_region(self, region: list[ast.stmt]) -> None:
        if any(leaves(statement) for statement in region):
            raise Refusal(
                "what computes the loss may leave the loop or the function around it",
                "compute the loss first, and decide about it behind backward()",
                "MS408",
            )
        loss = self.backward.bare
        surely = {name for statement in region for name in surely_binds(self.flow, statement)}
        bound = {name for statement in region for name in binds(statement)}
        if isinstance(loss, ast.Name) and loss.id in bound - surely and not self._starts(region):
            raise Refusal(
                f"{loss.id} is not bound on every way to backward()",
                "bind it in both branches",
                "MS408",
            )
        refuse_captures(region, self.block, self.guard or self.backward.statement, self.flow)
        filled = {n for s in region for n in self.flow.names.fills_elsewhere(s)}
        if filled:
            raise Refusal(
                f"terms of the loss are put into {' and '.join(sorted(filled))} under another name "
                "or in another function, which compiled code does not see",
                "use one name for the list, and append to it where the loss is computed",
                "MS408",
            )
        parts = (*region, loss)
        outside = computed_outside(parts, region, self.flow, self.context)
        if outside or not any(runs_forward(part, self.context.flow) for part in parts):
            raise Refusal(
                f"the forward pass behind {outside or 'this loss'} was run elsewhere, out of "
                "reach of value_and_grad",
                "run the model where the loss is computed",
                "MS408",
            )

    def _starts(self, region: list[ast.stmt]) -> bool:
        """The loss has a value before the region: `loss = 0`, then a loop that adds to it."""
        assert isinstance(self.backward.bare, ast.Name)
        before = self.flow.defuse.reaching_at(region[0], self.backward.bare.id)
        values = [definition.value for definition in before]
        if any(isinstance(value, ast.Constant) and value.value is None for value in values):
            return False  # no loss, which some later statement looks for
        earlier = self.flow.defuse.bound_before(region[0])
        return self.backward.bare.id in earlier or any(
            isinstance(s, (ast.For, ast.While, ast.AugAssign)) for s in region
        )

    def _running(self, region: list[ast.stmt]) -> list[str]:
        nodes = [n for part in (*region, self.backward.bare) for n in all_nodes(part)]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        return models_called(calls, self.context.flow)

    def _versions(self, region: list[ast.stmt], deferred: list[ast.stmt]) -> Versions:
        if not region:
            return Versions()
        names = {n.id for s in self.home.body for n in all_nodes(s) if isinstance(n, ast.Name)}
        rest = self.block[self.block.index(region[0]) :]
        return find_versions(self.flow, rest, region, deferred, names | self.taken)

    def _weights(self, interface: Interface) -> str:
        """The parameters whose gradients are taken, as source."""
        names = [name for name in (self.backward.optimizer, *self.backward.others) if name]
        weights = listed_weights(names, self._beside(interface.region))
        if any(interface.is_maybe_unbound(name) for name in names):
            return f"lambda: {weights}"
        if names:
            project = self.context.modules.project
            changes = adds_groups(project) or any(may_be_replaced(n, project) for n in names)
            return f"lambda: {weights}" if changes else weights
        weights = trained_in([*interface.region, self.backward.bare], self.context)
        if not weights:
            raise _no_step()
        return weights

    def _beside(self, region: list[ast.stmt]) -> list[str]:
        given = self.backward, region, self.calls, self.context
        return trained_beside(*given) if self.are_read else []

    def _accumulates(self, several: bool) -> bool:
        blocks = [self.backward.block, self.block]
        return (
            self.on_parameters
            or several
            or not is_cleared_each_time(blocks, self.calls, self.backward.optimizer)
        )


def _no_step() -> Refusal:
    return Refusal(
        "the optimizer that uses these gradients does not step in this function",
        "call optimizer.step() in the function that calls backward()",
        "MS408",
    )
