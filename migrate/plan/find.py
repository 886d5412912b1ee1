"""Find the calls of a training step: backward, step, zero_grad, clipping and loss scaling."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from migrate.flow import FunctionFlow
from migrate.flow.blocks import Home, innermost_loop, outermost_loop, statements_below
from migrate.flow.late_bindings import is_made_later
from migrate.flow.names import binds
from migrate.flow.project_flags import defines_backward
from migrate.pipeline.context import Context
from migrate.resolve.hierarchy import OPTIMIZER, ancestors
from migrate.resolve.values import UNKNOWN, Instance, Value, options_of
from migrate.syntax.ast_index import all_nodes

CLIPS = {
    "torch.nn.utils.clip_grad_norm_": "clip_norm",
    "torch.nn.utils.clip_grad_norm": "clip_norm",
    "torch.nn.utils.clip_grad_value_": "clip_value",
}
CLOSURE_STEP = "torch.optim.LBFGS.step"  # takes the gradients that its closure leaves


@dataclass(slots=True, eq=False)
class Backward:
    """One `loss.backward()`."""

    statement: ast.Expr
    block: list[ast.stmt]
    call: ast.Call
    loss: ast.expr  # what is differentiated, loss scaling included
    bare: ast.expr  # without it
    scaler: str = ""
    optimizer: str = ""  # the one that steps next; empty: none steps in this function
    others: tuple[str, ...] = ()  # optimizers that step with it, before the next backward pass

    @property
    def retains(self) -> bool:
        """`backward(retain_graph=True)`: a later backward pass may go the same way again."""
        return any(
            keyword.arg in ("retain_graph", "create_graph")
            and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
            for keyword in self.call.keywords
        )


class StepCall(NamedTuple):
    """`optimizer.step()`, `scaler.step(optimizer)`, `model.zero_grad()`, a clipping, ..."""

    statement: ast.stmt
    call: ast.Call
    name: str  # the optimizer as it is written; the receiver of a zero_grad; how it clips
    scaler: str = ""
    by_network: bool = False  # `model.zero_grad()`

    @property
    def cleared(self) -> str:
        """The parameters whose gradients a zero_grad clears, as source."""
        return f"{self.name}.{'trainable_params()' if self.by_network else 'parameters'}"


@dataclass(slots=True, eq=False)
class Calls:
    """What a function's own body holds of training steps."""

    flow: FunctionFlow
    backwards: list[Backward] = field(default_factory=list)
    steps: list[StepCall] = field(default_factory=list)
    zeros: list[StepCall] = field(default_factory=list)
    clips: list[StepCall] = field(default_factory=list)
    unscales: list[StepCall] = field(default_factory=list)
    own_backwards: list[ast.Call] = field(default_factory=list)  # methods of the program's own
    loops_over_optimizers: bool = False
    models: dict[str, set[str]] = field(default_factory=dict)  # optimizer -> what it trains

    @property
    def statements(self) -> set[ast.stmt]:
        """All of them but the backward passes."""
        groups = (self.steps, self.zeros, self.clips, self.unscales)
        return {one.statement for group in groups for one in group}

    @property
    def optimizers(self) -> list[str]:
        return list(dict.fromkeys(one.name for one in self.steps))

    def zeroed_optimizer(self, zero: StepCall) -> str:
        """Whose gradients a zero_grad clears: its own, or, for a model's, those of the optimizer
        that was made with it, or of the backward pass that comes next.
        """
        if zero.name in self.optimizers:
            return zero.name
        steps = [one for one in self.steps if self.models.get(one.name) == {zero.name}]
        near = [one.name for one in steps if self._share_loop(one.statement, zero.statement)]
        by_hand = any(
            not b.optimizer and self._share_loop(b.statement, zero.statement)
            for b in self.backwards
        )
        if steps and (near or not by_hand):
            return (near or [one.name for one in steps])[0]
        follows = self.flow.cfg.follows
        after = [b for b in self.backwards if follows(zero.statement, b.statement)]
        return (after or self.backwards)[0].optimizer

    def _share_loop(self, one: ast.stmt, other: ast.stmt) -> bool:
        loops = self.flow.cfg.loops_of
        return loops(one)[:1] == loops(other)[:1]


def find_calls(home: Home, context: Context) -> Calls:
    """All training calls in a function's own body, in source order."""
    found = Calls(context.flow.function(home))
    for block, statement in statements_below(home.body):
        call = _call_of(statement)
        if call is None or not isinstance(call.func, (ast.Attribute, ast.Name)):
            continue
        usage = context.usage(call.func)
        if usage is not None and usage.api in CLIPS:
            found.clips.append(StepCall(statement, call, CLIPS[usage.api]))
        elif isinstance(call.func, ast.Attribute):
            _sort_method(found, block, statement, call, call.func, context)
    _drop_schedulers(found, context)
    _mark_networks(found)
    _leave_loops_over_optimizers(found, home.body)
    for backward in found.backwards:
        backward.optimizer = _next_optimizer(backward, found, home.body)
        names = _stepping_with(backward, found, home.body)
        if len(names) > 1:
            backward.optimizer, *rest = names
            backward.others = tuple(rest)
    return found


def _call_of(statement: ast.stmt) -> ast.Call | None:
    """The call that a statement is, or whose result it assigns."""
    value = getattr(statement, "value", None)
    if isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign)) and isinstance(value, ast.Call):
        return value
    return None


def _sort_method(
    found: Calls,
    block: list[ast.stmt],
    statement: ast.stmt,
    call: ast.Call,
    function: ast.Attribute,
    context: Context,
) -> None:
    receiver, name = function.value, function.attr
    if name == "backward" and isinstance(statement, ast.Expr) and len(call.args) < 2:
        kind = context.type(receiver)
        if kind is UNKNOWN and call.args and defines_backward(context.modules.project):
            found.own_backwards.append(call)  # `self.fabric.backward(loss)`
        elif _may_be(kind, "torch.Tensor"):
            scaler, bare = _unscaled(receiver)
            found.backwards.append(Backward(statement, block, call, receiver, bare, scaler))
    elif name == "zero_grad":
        network = not _is_a(context.type(receiver), OPTIMIZER)
        found.zeros.append(StepCall(statement, call, ast.unparse(receiver), by_network=network))
    elif name == "step" and len(call.args) == 1 and isinstance(statement, ast.Expr):
        optimizer = ast.unparse(call.args[0])
        found.steps.append(StepCall(statement, call, optimizer, ast.unparse(receiver)))
    elif name == "step" and not call.args:
        found.steps.append(StepCall(statement, call, ast.unparse(receiver)))
    elif name == "unscale_" and len(call.args) == 1:
        optimizer = ast.unparse(call.args[0])
        found.unscales.append(StepCall(statement, call, optimizer, ast.unparse(receiver)))


def _unscaled(loss: ast.expr) -> tuple[str, ast.expr]:
    """`scaler.scale(loss)` taken apart."""
    if (
        isinstance(loss, ast.Call)
        and isinstance(loss.func, ast.Attribute)
        and loss.func.attr == "scale"
        and len(loss.args) == 1
    ):
        return ast.unparse(loss.func.value), loss.args[0]
    return "", loss


def _drop_schedulers(found: Calls, context: Context) -> None:
    """A scheduler steps as well: only optimizers count, by their type or by their use."""
    scalers = {backward.scaler for backward in found.backwards if backward.scaler}
    found.unscales = [one for one in found.unscales if one.scaler in scalers]
    zeroed = {one.name for one in found.zeros}

    def counts(one: StepCall) -> bool:
        if one.scaler:
            return one.scaler in scalers
        assert isinstance(one.call.func, ast.Attribute)
        kind = context.type(one.call.func.value)
        named = one.name in zeroed or "opt" in one.name.lower()
        return _is_a(kind, OPTIMIZER) or (kind is UNKNOWN and named)

    found.steps = list(filter(counts, found.steps))


def _mark_networks(found: Calls) -> None:
    """What steps is an optimizer, and so is what is called one, whatever is known of its type."""
    found.zeros = [
        zero._replace(by_network=False)
        if zero.name in found.optimizers or "opt" in zero.name.lower()
        else zero
        for zero in found.zeros
    ]


def _leave_loops_over_optimizers(found: Calls, body: list[ast.stmt]) -> None:
    """`for o in optimizers: o.step()`: each takes its gradients from its parameters."""
    passing = {
        one.statement
        for one in (*found.steps, *found.zeros)
        if not one.scaler
        and isinstance(loop := innermost_loop(body, one.statement), ast.For)
        and one.name.partition(".")[0].partition("[")[0] in binds(loop.target)
        and not any(b.statement in set(all_nodes(loop)) for b in found.backwards)
    }
    found.loops_over_optimizers = any(one.statement in passing for one in found.steps)
    found.steps = [one for one in found.steps if one.statement not in passing]
    found.zeros = [one for one in found.zeros if one.statement not in passing]


# Order -------------------------------------------------------------------------------------------


def _next_optimizer(backward: Backward, calls: Calls, body: list[ast.stmt]) -> str:
    """The optimizer that steps next after this backward pass, or, in a loop, before it."""
    steps = _in_same_loop(backward, calls, body)
    after = _first([s for s in steps if _follows(backward, s, calls)], calls)
    return after.name if after is not None else next((s.name for s in steps), "")


def _stepping_with(backward: Backward, calls: Calls, body: list[ast.stmt]) -> list[str]:
    """`loss.backward(); encoder_optimizer.step(); decoder_optimizer.step()`: all that step between
    the backward passes here and the next ones.
    """
    order = calls.flow.cfg
    after = [s for s in _in_same_loop(backward, calls, body) if _follows(backward, s, calls)]
    first = _first(after, calls)
    if first is None:
        return []
    next_ones = [b for b in calls.backwards if order.follows(first.statement, b.statement)]
    here = [s for s in after if not any(order.follows(b.statement, s.statement) for b in next_ones)]
    names = list(dict.fromkeys(s.name for s in here))
    if len(names) > 1 and _are_alternatives(here, calls):
        return []
    return names


def _first(steps: list[StepCall], calls: Calls) -> StepCall | None:
    """The step that no other one comes before."""
    follows = calls.flow.cfg.follows
    return next(
        (s for s in steps if not any(follows(o.statement, s.statement) for o in steps)), None
    )


def _follows(backward: Backward, step: StepCall, calls: Calls) -> bool:
    return calls.flow.cfg.follows(backward.statement, step.statement)


def _in_same_loop(backward: Backward, calls: Calls, body: list[ast.stmt]) -> list[StepCall]:
    """A step in a loop that the backward pass is not in belongs to another one, and one of an
    optimizer that is made later takes what lies at its parameters.
    """
    loop = outermost_loop(body, backward.statement)
    return [
        s
        for s in calls.steps
        if outermost_loop(body, s.statement) in (None, loop)
        and not is_made_later(s.name, backward.statement, calls.flow)
    ]


def _are_alternatives(steps: list[StepCall], calls: Calls) -> bool:
    """`if phase: a.step() else: b.step()`: one of them steps, not both."""
    follows = calls.flow.cfg.follows
    return any(
        one.name != other.name
        and not follows(one.statement, other.statement)
        and not follows(other.statement, one.statement)
        for one in steps
        for other in steps
    )


def _is_a(value: Value, base: str) -> bool:
    return any(
        base in ancestors(name)
        for option in options_of(value)
        if isinstance(option, Instance)
        for name in ([option.cls] if isinstance(option.cls, str) else option.cls.library_bases())
    )


def _may_be(value: Value, base: str) -> bool:
    return value is UNKNOWN or _is_a(value, base)
