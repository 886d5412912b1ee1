"""Plan a training step: which statements become the forward function, what goes in, what comes
out.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.plan.contributors import (
    may_reach,
    optimizers_reached,
    passes_by,
    trained_models,
    zeroed_optimizer,
)
from migrate.plan.find import Backward, Calls, find_calls
from migrate.plan.gradient_users import (
    Home,
    are_unused,
    gradients_cross_functions,
    keeps_gradients,
    trained_in,
)
from migrate.plan.input_gradients import GRAD
from migrate.plan.interface import (
    Versions,
    changed_in_part,
    data_arguments,
    find_versions,
    in_order,
    is_code,
    names_called,
)
from migrate.plan.mode import Switches, models_called, own_calls, plan_modes
from migrate.plan.names import (
    behind,
    binds,
    bound_anew,
    bound_before,
    changes_of_tensors,
    contains,
    innermost_loop,
    loop_bodies,
    outermost_loop,
    own_reads,
    reads,
    reads_before_binding,
    statements_below,
    step_loop,
)
from migrate.plan.parameters import may_use_parameters, runs_forward
from migrate.plan.project_flags import adds_groups, sets_requires_grad
from migrate.plan.slice import (
    around,
    bound_by,
    detached,
    find_region,
    flowing,
    leaves,
    surely_binds,
)
from migrate.plan.statement_roles import assign_statements
from migrate.plan.tape_fallback import plan_taped
from migrate.plan.tensor_gradients import plan_tensor_gradients
from migrate.plan.training_step import Plans, TrainingStep
from migrate.syntax.ast_index import nodes_of


def plan_steps(tree: ast.Module, context: Context, taken: set[str]) -> Plans:
    """Plan every function of the file that calls backward()."""
    homes: list[Home] = [tree]
    homes += nodes_of(tree, ast.FunctionDef, ast.AsyncFunctionDef)
    plans = Plans()
    if "backward" not in _attributes(tree) and not any(
        usage.api == GRAD for usage in context.usages.values()
    ):
        plans.switches = plan_modes(tree, homes, set(), context)
        # Gradients that another file computes lie at the parameters.
        plans.on_parameters = plans.accumulates = gradients_cross_functions(context.modules.project)
        return plans
    calls_of = {id(home): find_calls(home.body, context) for home in homes}
    plans.gradients = plan_tensor_gradients(homes, calls_of, context, taken)
    models = trained_models(tree)
    for home in homes:
        _note_others(calls_of[id(home)], home, models, context)
    training = {id(home) for home in homes if calls_of[id(home)].backwards}
    plans.switches = plan_modes(tree, homes, training, context)
    plans.on_parameters = keeps_gradients(tree, list(calls_of.values()), context)
    plans.models = models
    refused: dict[int, Refusal] = {}
    for home in homes:
        calls = calls_of[id(home)]
        siblings: list[TrainingStep] = []
        for backward in calls.backwards:
            try:
                freed = _freed(siblings, backward)
                on_parameters = plans.on_parameters
                planner = StepPlanner(backward, calls, home, context, on_parameters, freed, taken)
                plan = planner.plan()
            except Refusal as refusal:
                refused[id(backward)] = refusal
                continue
            plan.may_freeze = sets_requires_grad(context.modules.project)
            plan.instead = _other_branch(plan, siblings)
            _name(plan, siblings, taken)
            _flag_shared(plan, siblings, context)
            siblings.append(plan)
            plans.by_block.setdefault(id(backward.block), []).append(plan)
            assign_statements(plan, calls, plans)
            plans.accumulates |= plan.accumulates
        if siblings:
            siblings[0].switched = plans.switches.of_home.get(id(home), [])
    if not refused:
        return plans
    taped = _taped(homes, calls_of, refused, plans.switches, context)
    # A gradient that is differentiated again is no part of a record.
    taped.gradients = [p for p in plans.gradients if p.create_graph is None]
    return taped


def _note_others(calls: Calls, home: Home, models: dict[str, set[str]], context: Context) -> None:
    """Other optimizers that step with the gradients of a backward pass."""
    special = {id(statement) for statement in _special_statements(calls)}
    for backward in calls.backwards:
        names = optimizers_reached(backward, calls, home, models)
        if len(names) < 2:
            continue
        at = backward.block.index(backward.statement)
        region, _ = find_region(backward, backward.block, at, special, calls, context, set())
        parts = [*region, backward.bare]
        parts = [part for part in parts if part not in detached(backward.loss, region)]
        found = [name for name in names if may_reach(name, parts, models)]
        if backward.optimizer in found:
            found.remove(backward.optimizer)
        backward.others = tuple(found)


def _taped(
    homes: list[Home],
    calls_of: dict[int, Calls],
    refused: dict[int, Refusal],
    switches: Switches,
    context: Context,
) -> Plans:
    """One step that is no function makes the whole file take its gradients from a record."""
    plans = Plans(taped=True, accumulates=True, on_parameters=True, switches=switches)
    for home in homes:
        plan = plan_taped(plans, calls_of[id(home)], refused, context)
        # There is no forward function in front of which a model could be switched.
        switches.all_cells |= plan is not None and bool(switches.of_home.get(id(home)))
    return plans


def _flag_shared(plan: TrainingStep, siblings: list[TrainingStep], context: Context) -> None:
    """Two losses that share a forward pass: each forward function computes it for itself."""
    others = [other for other in siblings if other is not plan.instead]
    before = {id(statement) for other in others for statement in other.region}
    for statement in plan.region:
        if id(statement) in before and runs_forward(statement, context):
            context.flag(
                statement,
                "MS408",
                "is computed in two forward functions: BatchNorm sees the batch twice",
                "put both losses into one backward() if that matters",
            )


def _freed(siblings: list[TrainingStep], backward: Backward) -> set[int]:
    """Statements through which an earlier backward pass has gone: torch has let go of that graph,
    and what they computed is data from there on.
    """
    return {
        id(statement)
        for plan in siblings
        if not plan.backward.retains and plan.backward.block is backward.block
        for statement in flowing(plan.backward.loss, plan.region)
    }


def _attributes(tree: ast.Module) -> set[str]:
    return {node.attr for node in nodes_of(tree, ast.Attribute)}


class StepPlanner:
    """Plans one backward pass: slice, interface, place."""

    def __init__(
        self,
        backward: Backward,
        calls: Calls,
        home: Home,
        context: Context,
        on_parameters: bool,
        freed: set[int],
        taken: set[str],
    ) -> None:
        self.backward, self.calls, self.context = backward, calls, context
        self.home, self.body = home, home.body
        self.on_parameters, self.freed, self.taken = on_parameters, freed, taken
        self.block = backward.block
        self.guard: ast.If | None = None  # decides whether there is a backward pass at all

    def plan(self) -> TrainingStep:
        backward = self.backward
        self._check_call()
        unused = self._is_unused()
        region, deferred = self._slice()
        apart = detached(backward.loss, region)
        region = [statement for statement in region if statement not in apart]
        self._check_region(region)
        weights = self._weights(region)
        versions = self._versions(region, deferred)
        inputs = reads_before_binding([*region, ast.Expr(backward.loss)])
        code = self._code(inputs, region, weights)
        loop = step_loop(self.body, backward.statement, code)
        parameters = self._parameters(inputs, code, region, loop)
        outputs = self._outputs(parameters, region, loop)
        parameters += self._kept_by_branches(parameters, outputs, region)
        sharing = self._sharing(loop)
        return TrainingStep(
            backward,
            backward.optimizer,
            weights,
            region,
            deferred,
            parameters,
            [*outputs, *versions.names],
            anchor=loop or (region[0] if region else backward.statement),
            accumulates=not unused and self._accumulates(len(sharing) > 1),
            unconditional=self._is_unconditional(loop),
            owns_store=self.on_parameters or sharing[0] is backward,
            loop=loop,
            near=loop or innermost_loop(self.body, backward.statement),
            host=self.guard,
            on_parameters=self.on_parameters,
            unused=unused,
            detached=apart,
            versions=versions,
            running=self._running(region),
            unbound=self._unbound(parameters),
            copied=changed_in_part(region, parameters, self.context),
            settled=self._is_settled(loop),
        )

    def _check_call(self) -> None:
        if self.backward.call.args:
            raise Refusal("backward(gradient) starts from another gradient than one", "", "MS408")
        for keyword in self.backward.call.keywords:
            if keyword.arg != "retain_graph":
                raise Refusal(
                    f"backward({keyword.arg}=...) has no counterpart",
                    "multiply the loss by that gradient and sum it",
                )

    def _is_unused(self) -> bool:
        """Nobody uses these gradients; without an optimizer there must be a reason."""
        unused = not self.backward.optimizer and not self.on_parameters
        models = models_called(own_calls(self.body), self.context) if unused else []
        if unused and not are_unused(self.backward, self.calls, self.body, models, self.context):
            raise _no_step()
        return unused

    # Slice ----------------------------------------------------------------------------------------

    def _slice(self) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The statements of the step, and those between that go behind it."""
        backward, block = self.backward, self.backward.block
        region, deferred = self._region(block, block.index(backward.statement))
        if region or may_use_parameters(backward.bare, self.context):
            return region, deferred
        # `if training: loss.backward()`: the loss is computed in the block around.
        self.block, at, self.guard = around(self.body, backward)
        region, deferred = self._region(self.block, at)
        if self.guard is not None and bound_by(region) & reads(self.guard.test):
            region = []
        if not region:
            raise Refusal(
                "the statements that compute the loss are not in the same block as backward()",
                "compute the loss and call backward() side by side",
                "MS408",
            )
        return region, deferred

    def _region(self, block: list[ast.stmt], at: int) -> tuple[list[ast.stmt], list[ast.stmt]]:
        special = {id(statement) for statement in _special_statements(self.calls)}
        calls, context = self.calls, self.context
        return find_region(self.backward, block, at, special, calls, context, self.freed)

    def _check_region(self, region: list[ast.stmt]) -> None:
        if any(leaves(statement) for statement in region):
            raise Refusal(
                "what computes the loss may leave the loop or the function around it",
                "compute the loss first, and decide about it behind backward()",
                "MS408",
            )
        loss = self.backward.bare
        surely = {name for statement in region for name in surely_binds(statement)}
        bound = {name for statement in region for name in binds(statement)}
        if isinstance(loss, ast.Name) and loss.id in bound - surely and not self._starts(region):
            raise Refusal(
                f"{loss.id} is not bound on every way to backward()",
                "bind it in both branches",
                "MS408",
            )
        if not any(runs_forward(part, self.context) for part in (*region, self.backward.bare)):
            raise Refusal(
                "the forward pass behind this loss was run elsewhere, out of reach of "
                "value_and_grad",
                "run the model where the loss is computed",
                "MS408",
            )

    def _starts(self, region: list[ast.stmt]) -> bool:
        """The loss has a value before the region: `loss = 0`, then a loop that adds to it."""
        assert isinstance(self.backward.bare, ast.Name)
        before = bound_before(self.body, region[0])
        return self.backward.bare.id in before or any(
            isinstance(s, ast.For | ast.While | ast.AugAssign) for s in region
        )

    def _running(self, region: list[ast.stmt]) -> list[str]:
        nodes = [n for part in (*region, self.backward.bare) for n in ast.walk(part)]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        return models_called(calls, self.context)

    def _versions(self, region: list[ast.stmt], deferred: list[ast.stmt]) -> Versions:
        names = {n.id for s in self.body for n in ast.walk(s) if isinstance(n, ast.Name)}
        if not region:
            return Versions()
        start = self.block.index(region[0])
        return find_versions(self.block[start:], region, deferred, names | self.taken)

    # Interface ------------------------------------------------------------------------------------

    def _weights(self, region: list[ast.stmt]) -> str:
        """The parameters whose gradients are taken, as source."""
        names = [name for name in (self.backward.optimizer, *self.backward.others) if name]
        weights = f"[{', '.join(f'*{name}.parameters' for name in names)}]"
        if len(names) == 1:
            weights = f"{names[0]}.parameters"
        if any(self._is_maybe_unbound(name) for name in names):
            return f"lambda: {weights}"
        if names:
            return f"lambda: {weights}" if adds_groups(self.context.modules.project) else weights
        weights = trained_in([*region, self.backward.bare], self.context)
        if not weights:
            raise _no_step()
        return weights

    def _code(self, inputs: list[str], region: list[ast.stmt], weights: str) -> set[str]:
        """Names of networks and functions: part of the step, not of its data."""
        networks = names_called([*region, self.backward.loss])
        code = {
            name
            for name in inputs
            if name in networks or is_code(name, region, self.backward, self.context)
        }
        return code | {n.id for n in ast.walk(ast.parse(weights)) if isinstance(n, ast.Name)}

    def _parameters(
        self, inputs: list[str], code: set[str], region: list[ast.stmt], loop: ast.stmt | None
    ) -> list[str]:
        if loop is not None:
            changing = changes_of_tensors(loop)
        else:
            changing = bound_before(self.body, self.backward.statement)
            if not isinstance(self.home, ast.Module):
                whole = [*region, ast.Expr(self.backward.loss)]
                changing |= data_arguments(self.home.args, whole, self.context)
        return [name for name in inputs if name in changing and name not in code]

    def _outputs(
        self, parameters: list[str], region: list[ast.stmt], loop: ast.stmt | None
    ) -> list[str]:
        """What the region binds and other statements read."""
        moved = {id(inner) for statement in region for _, inner in statements_below([statement])}
        outside = [
            s
            for _, s in statements_below(self.body if loop is None else [loop])
            if id(s) not in moved and s is not self.backward.statement
        ]
        read = {name for s in outside if not contains(s, moved) for name in reads(s)}
        read |= {name for s in outside if contains(s, moved) for name in own_reads(s)}
        if loop is not None:
            read |= set(reads_before_binding(behind(loop, self.body)))
            read |= set(parameters) - bound_anew(loop, region, moved)
        return [name for name in in_order(bound_by(region), region) if name in read]

    def _kept_by_branches(
        self, parameters: list[str], outputs: list[str], region: list[ast.stmt]
    ) -> list[str]:
        """What only one branch of the region binds keeps its old value in the other one."""
        surely = {name for statement in region for name in surely_binds(statement)}
        surely |= reads(self.backward.bare)
        earlier = bound_before(self.body, region[0]) if region else set()
        return [n for n in outputs if n not in {*surely, *parameters} and n in earlier]

    def _unbound(self, parameters: list[str]) -> dict[ast.stmt, list[str]]:
        """Inputs that one branch binds, by the statement in front of which they become None."""
        found: dict[ast.stmt, list[str]] = {}
        for name in parameters:
            if self._is_maybe_unbound(name):
                first = next(s for s in self.body if name in binds(s))
                found.setdefault(first, []).append(name)
        return found

    def _is_maybe_unbound(self, name: str) -> bool:
        """Some way leads to backward() past no statement that binds the name."""
        if not isinstance(self.home, ast.Module):
            arguments = [n.arg for n in ast.walk(self.home.args) if isinstance(n, ast.arg)]
            if name in arguments:
                return False
        giving = [s for _, s in statements_below(self.body) if name in _binds_itself(s)]
        if not giving:
            return False
        return passes_by(self.home, self.backward.statement, giving)

    # Place ----------------------------------------------------------------------------------------

    def _sharing(self, loop: ast.stmt | None) -> list[Backward]:
        """The backward passes whose gradients add up for the same optimizer."""
        guard = self.guard
        branches = [] if guard is None else [guard.body, guard.orelse]
        return [
            b
            for b in self.calls.backwards
            if b is self.backward or not any(b.block is branch for branch in branches)
            if b.optimizer == self.backward.optimizer
            and _is_together(b, self.backward, loop, self.body)
        ]

    def _accumulates(self, several: bool) -> bool:
        blocks = [self.backward.block, self.block]
        return (
            self.on_parameters
            or several
            or not _cleared_each_time(blocks, self.calls, self.backward.optimizer)
        )

    def _is_unconditional(self, loop: ast.stmt | None) -> bool:
        """Every round of the loop comes here."""
        return (
            self.guard is not None
            or loop is None
            or any(block is self.backward.block for block in loop_bodies(loop))
        )

    def _is_settled(self, loop: ast.stmt | None) -> bool:
        """The test around the backward pass is known in front of the loop."""
        if self.guard is None:
            return False
        return loop is None or not reads(self.guard.test) & binds(loop)


def _binds_itself(statement: ast.stmt) -> set[str]:
    """What a statement binds apart from the statements in its blocks."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    parts = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt)]
    return {name for part in parts for name in binds(part)}


def _no_step() -> Refusal:
    return Refusal(
        "the optimizer that uses these gradients does not step in this function",
        "call optimizer.step() in the function that calls backward()",
        "MS408",
    )


def _is_together(
    other: Backward, backward: Backward, loop: ast.stmt | None, body: list[ast.stmt]
) -> bool:
    """Whether the two share a forward function's place, and with it the store of gradients."""
    if loop is not None:
        return any(node is other.statement for node in ast.walk(loop))
    around_both = outermost_loop(body, backward.statement)
    return outermost_loop(body, other.statement) is around_both


def _special_statements(calls: Calls) -> list[ast.stmt]:
    groups = (calls.steps, calls.zeros, calls.clips, calls.scaled_steps, calls.unscales)
    return [entry[0] for group in groups for entry in group]


def _cleared_each_time(blocks: list[list[ast.stmt]], calls: Calls, optimizer: str) -> bool:
    """zero_grad, backward and step each once, unconditionally, in one block: plain gradients
    will do.
    """
    block = {id(statement) for one in blocks for statement in one}
    zeros = [
        s
        for s, _, receiver in calls.zeros
        if id(s) in block and zeroed_optimizer(s, receiver, calls) == optimizer
    ]
    steps = [s for s, _, name in calls.steps if name == optimizer and id(s) in block]
    steps += [s for s, _, _, name in calls.scaled_steps if name == optimizer and id(s) in block]
    elsewhere = not any(
        zeroed_optimizer(s, receiver, calls) == optimizer for s, _, receiver in calls.zeros
    )
    # Who steps every time and clears nowhere in this function lets the caller do it.
    return bool(steps) and (bool(zeros) or elsewhere)


def _other_branch(plan: TrainingStep, siblings: list[TrainingStep]) -> TrainingStep | None:
    """The step that is taken where this one is not: it stands in the same `if`."""
    return next((p for p in siblings if p.host is not None and p.host is plan.host), None)


def _name(plan: TrainingStep, siblings: list[TrainingStep], taken: set[str]) -> None:
    """Names that nothing else in the function has."""
    suffix = f"_{len(siblings) + 1}" if siblings else ""
    for field_name in ("forward_name", "grad_name", "grads_name", "store_name"):
        name = getattr(plan, field_name) + suffix
        while name in taken:
            name += "_"
        setattr(plan, field_name, name)
    if plan.unused:
        plan.grads_name = "_"
    if plan.instead is not None:  # one of both gives the gradients that the optimizer uses
        plan.grads_name, plan.store_name = plan.instead.grads_name, plan.instead.store_name
    if not plan.owns_store:
        owners = (p for p in siblings if p.optimizer == plan.optimizer and p.loop is plan.loop)
        # Where the owner was refused, the whole file is recorded and no store is written.
        plan.store_name = next((p.store_name for p in owners), plan.store_name)
