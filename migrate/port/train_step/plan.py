"""Plan a training step: which statements become the forward function, what goes in, what comes
out.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrate.port.call import Refusal
from migrate.port.context import Context, is_module_value
from migrate.port.train_step.find import Backward, Calls, find_calls
from migrate.port.train_step.names import (
    binds,
    blocks_of,
    reads,
    reads_before_binding,
    statements_below,
)
from migrate.resolve.values import is_tensor

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(slots=True)
class StepPlan:
    """One backward pass and everything that belongs to it."""

    backward: Backward
    optimizer: str
    region: list[ast.stmt]  # becomes the body of the forward function
    later: list[ast.stmt]  # stood between, but only looks at results: goes behind
    parameters: list[str]
    outputs: list[str]
    anchor: ast.stmt  # the forward function goes in front of this statement
    accumulates: bool
    forward_name: str = "forward_step"
    grad_name: str = "grad_step"
    grads_name: str = "grads"
    store_name: str = "gradients"
    unconditional: bool = True  # every round of the loop comes here
    owns_store: bool = True  # the first of several backward passes that share an optimizer


@dataclass(slots=True)
class Plans:
    """All steps of a file, and what becomes of the single statements, by identity of the stdlib
    node.
    """

    by_block: dict[int, list[StepPlan]] = field(default_factory=dict)
    statements: dict[int, tuple[str, StepPlan, str]] = field(default_factory=dict)
    handled: set[int] = field(default_factory=set)  # calls that the ordinary rewriting leaves alone
    distributed: bool = False


def plan_steps(tree: ast.Module, context: Context, taken: set[str]) -> Plans:
    """Plan every function of the file that calls backward()."""
    plans = Plans(distributed=_is_distributed(tree))
    if "backward" not in _attributes(tree):
        return plans
    bodies: list[tuple[list[ast.stmt], ast.arguments | None]] = [(tree.body, None)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            bodies.append((node.body, node.args))
    for body, arguments in bodies:
        calls = find_calls(body, context)
        siblings: list[StepPlan] = []
        for backward in calls.backwards:
            try:
                plan = _plan(backward, calls, body, arguments, context)
            except Refusal as refusal:
                context.flag(backward.statement, refusal.code, refusal.message, refusal.next_step)
                continue
            _name(plan, siblings, taken)
            _flag_shared(plan, siblings, context)
            siblings.append(plan)
            plans.by_block.setdefault(id(backward.block), []).append(plan)
            _assign_statements(plan, calls, plans)
    return plans


def _flag_shared(plan: StepPlan, siblings: list[StepPlan], context: Context) -> None:
    """Two losses that share a forward pass: each forward function computes it for itself."""
    before = {id(statement) for other in siblings for statement in other.region}
    for statement in plan.region:
        if id(statement) in before:
            context.flag(
                statement,
                "MS408",
                "is computed in two forward functions: BatchNorm sees the batch twice",
                "put both losses into one backward() if that matters",
            )


def _attributes(tree: ast.Module) -> set[str]:
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _is_distributed(tree: ast.Module) -> bool:
    return any(
        "distributed" in (getattr(node, "module", None) or "")
        or any(
            "distributed" in alias.name or "DistributedDataParallel" in alias.name
            for alias in node.names
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def _plan(
    backward: Backward,
    calls: Calls,
    body: list[ast.stmt],
    arguments: ast.arguments | None,
    context: Context,
) -> StepPlan:
    for keyword in backward.call.keywords:
        if keyword.arg not in ("retain_graph", "create_graph"):
            raise Refusal(
                f"backward({keyword.arg}=...) has no counterpart",
                "multiply the loss by that gradient and sum it",
            )
    optimizer = _optimizer(backward, calls)
    at = backward.block.index(backward.statement)
    special = {id(statement) for statement in _special_statements(calls)}
    region, later = _region(backward, at, special, context)
    if not region and not _calls_module(backward.bare, context):
        raise Refusal(
            "the statements that compute the loss are not in the same block as backward()",
            "compute the loss and call backward() side by side",
            "MS408",
        )
    loop = _outermost_loop(body, backward.statement)
    anchor = loop if loop is not None else (region[0] if region else backward.statement)
    inputs = reads_before_binding([*region, ast.Expr(backward.loss)])
    changing = binds(loop) if loop is not None else _bound_before(body, anchor)
    if loop is None and arguments is not None:
        changing |= _data_arguments(arguments, [*region, ast.Expr(backward.loss)], context)
    bound = {name for statement in region for name in binds(statement)}
    moved = {id(statement) for statement in region}
    parameters = [
        name for name in inputs if name in changing and not _is_code(name, anchor, context)
    ]
    outside = [
        s for _, s in statements_below(body) if id(s) not in moved and s is not backward.statement
    ]
    read_outside = {name for s in outside if not _contains(s, moved) for name in reads(s)}
    read_outside |= {name for s in outside if _contains(s, moved) for name in _own_reads(s)}
    outputs = [name for name in _in_order(bound, region) if name in read_outside]
    same = [b for b in calls.backwards if _optimizer(b, calls) == optimizer]
    return StepPlan(
        backward,
        optimizer,
        region,
        later,
        parameters,
        outputs,
        anchor,
        accumulates=len(same) > 1 or not _cleared_each_time(backward, calls, optimizer),
        unconditional=loop is None or any(block is backward.block for block in _loop_bodies(loop)),
        owns_store=same[0] is backward,
    )


def _own_reads(statement: ast.stmt) -> set[str]:
    """What the head of a compound statement reads; its body is looked at statement by statement."""
    heads = [getattr(statement, name, None) for name in ("test", "iter", "items", "value")]
    found: set[str] = set()
    for head in heads:
        for node in head if isinstance(head, list) else [head]:
            if isinstance(node, ast.AST):
                found |= reads(node)
    return found


def _contains(statement: ast.stmt, moved: set[int]) -> bool:
    return any(id(node) in moved for node in ast.walk(statement))


def _special_statements(calls: Calls) -> list[ast.stmt]:
    groups = (calls.steps, calls.zeros, calls.clips, calls.scaled_steps, calls.unscales)
    return [entry[0] for group in groups for entry in group]


def _optimizer(backward: Backward, calls: Calls) -> str:
    """The optimizer that steps next after this backward pass."""
    line = backward.statement.lineno
    steps = [(s.lineno, name) for s, _, name in calls.steps]
    steps += [(s.lineno, name) for s, _, _, name in calls.scaled_steps]
    if not steps:
        raise Refusal(
            "the optimizer that uses these gradients does not step in this function",
            "call optimizer.step() in the function that calls backward()",
            "MS408",
        )
    after = [entry for entry in steps if entry[0] > line]
    return min(after or steps)[1]


def _region(
    backward: Backward, at: int, special: set[int], context: Context
) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The statements before backward() that the loss depends on, from the first that calls a
    module.
    """
    needed = reads(backward.bare)
    chain: list[int] = []
    for index in range(at - 1, -1, -1):
        statement = backward.block[index]
        if id(statement) in special or isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        if binds(statement) & needed:
            chain.append(index)
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                needed -= binds(statement)  # what it was before does not matter
            needed |= reads(statement)
    chain.reverse()
    differentiable = [i for i in chain if _calls_module(backward.block[i], context)]
    start = differentiable[0] if differentiable else (chain[-1] if chain else at)
    region_at = [i for i in chain if i >= start]
    region = [backward.block[i] for i in region_at]
    bound = {name for statement in region for name in binds(statement)}
    later = [
        backward.block[i]
        for i in range(start, at)
        if i not in region_at
        and id(backward.block[i]) not in special
        and reads(backward.block[i]) & bound
    ]
    return region, later


def _calls_module(node: ast.AST, context: Context) -> bool:
    """Somewhere in here a module (or something unknown that looks like one) is called."""
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        kind = context.type(call.func)
        if is_module_value(kind):
            return True
        name = ast.unparse(call.func).rpartition(".")[2].lower()
        if any(
            word in name for word in ("model", "net", "criterion", "loss_fn", "encoder", "decoder")
        ):
            return True
    return False


def _outermost_loop(body: list[ast.stmt], target: ast.stmt) -> ast.stmt | None:
    for statement in body:
        if any(node is target for node in ast.walk(statement)):
            if isinstance(statement, _LOOPS):
                return statement
            for block in _inner(statement):
                found = _outermost_loop(block, target)
                if found is not None:
                    return found
    return None


def _loop_bodies(loop: ast.stmt) -> list[list[ast.stmt]]:
    """The bodies of a loop and of the loops directly in it."""
    bodies = []
    pending = [loop]
    while pending:
        current = pending.pop()
        body: list[ast.stmt] = getattr(current, "body", [])
        bodies.append(body)
        pending += [statement for statement in body if isinstance(statement, _LOOPS)]
    return bodies


def _inner(statement: ast.stmt) -> list[list[ast.stmt]]:
    return [] if isinstance(statement, ast.FunctionDef | ast.ClassDef) else blocks_of(statement)


def _bound_before(body: list[ast.stmt], anchor: ast.stmt) -> set[str]:
    """In a function without a loop: everything bound before, parameters included, may be data."""
    names: set[str] = set()
    for _, statement in statements_below(body):
        if statement is anchor:
            break
        names |= binds(statement)
    return names


def _data_arguments(arguments: ast.arguments, region: list[ast.stmt], context: Context) -> set[str]:
    """Parameters of the function that the region only passes on or computes with: data, not
    code.
    """
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    code: set[str] = set()
    for statement in region:
        for node in ast.walk(statement):
            head = node.func if isinstance(node, ast.Call) else None
            while isinstance(head, ast.Attribute):
                head = head.value
            if isinstance(head, ast.Name) and not is_tensor(context.type(head)):
                code.add(head.id)
    return names - code - {"self"}


def _is_code(name: str, anchor: ast.stmt, context: Context) -> bool:
    """Modules, optimizers and functions stay in the closure."""
    return any(
        isinstance(node, ast.Name) and node.id == name and is_module_value(context.type(node))
        for node in ast.walk(anchor)
    )


def _in_order(bound: set[str], region: list[ast.stmt]) -> list[str]:
    order: dict[str, None] = {}
    for statement in region:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in bound:
                order[node.id] = None
    return list(order)


def _cleared_each_time(backward: Backward, calls: Calls, optimizer: str) -> bool:
    """zero_grad, backward and step each once, unconditionally, in one block: plain gradients
    will do.
    """
    block = {id(statement) for statement in backward.block}
    zeros = [
        s
        for s, _, receiver in calls.zeros
        if id(s) in block and zeroed_optimizer(s, receiver, calls) == optimizer
    ]
    steps = [s for s, _, name in calls.steps if name == optimizer and id(s) in block]
    steps += [s for s, _, _, name in calls.scaled_steps if name == optimizer and id(s) in block]
    return bool(zeros) and bool(steps)


def zeroed_optimizer(statement: ast.stmt, receiver: str, calls: Calls) -> str:
    """Whose gradients a zero_grad clears: its own, or, for a model's, those of the next
    backward.
    """
    names = {name for _, _, name in calls.steps} | {name for _, _, _, name in calls.scaled_steps}
    if receiver in names:
        return receiver
    after = [b for b in calls.backwards if b.statement.lineno > statement.lineno]
    return _optimizer((after or calls.backwards)[0], calls)


def _name(plan: StepPlan, siblings: list[StepPlan], taken: set[str]) -> None:
    """Names that nothing else in the function has."""
    suffix = f"_{len(siblings) + 1}" if siblings else ""
    for field_name in ("forward_name", "grad_name", "grads_name", "store_name"):
        name = getattr(plan, field_name) + suffix
        while name in taken:
            name += "_"
        setattr(plan, field_name, name)
    if not plan.owns_store:
        plan.store_name = next(p.store_name for p in siblings if p.optimizer == plan.optimizer)


def _assign_statements(plan: StepPlan, calls: Calls, plans: Plans) -> None:
    backward = plan.backward
    plans.statements[id(backward.statement)] = ("backward", plan, "")
    plans.handled.add(id(backward.call))
    if backward.scaler and isinstance(backward.loss, ast.Call):
        plans.handled.add(id(backward.loss))
    for statement, call, name in calls.steps:
        if name == plan.optimizer:
            _note(plans, statement, call, "step", plan, name)
    for statement, call, scaler, name in calls.scaled_steps:
        if name == plan.optimizer:
            _note(plans, statement, call, "scaled_step", plan, scaler)
    for statement, call, receiver in calls.zeros:
        if zeroed_optimizer(statement, receiver, calls) == plan.optimizer:
            _note(plans, statement, call, "zero", plan, "")
    for statement, call, scaler in calls.unscales:
        if ast.unparse(call.args[0]) == plan.optimizer:
            _note(plans, statement, call, "unscale", plan, scaler)
    for statement, call, kind in calls.clips:
        if statement.lineno > backward.statement.lineno:
            _note(plans, statement, call, kind, plan, "")


def _note(
    plans: Plans, statement: ast.stmt, call: ast.Call, kind: str, plan: StepPlan, detail: str
) -> None:
    """The last plan that claims a statement is the nearest one before it."""
    plans.statements[id(statement)] = (kind, plan, detail)
    plans.handled.add(id(call))
