"""Find the calls of a training step: backward, step, zero_grad, clipping and loss scaling."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrate.pipeline.context import Context
from migrate.plan.names import binds, innermost_loop, outermost_loop, statements_below
from migrate.resolve.hierarchy import OPTIMIZER, ancestors
from migrate.resolve.values import UNKNOWN, Instance, Value, options_of

CLIPS = {
    "torch.nn.utils.clip_grad_norm_": "clip_norm",
    "torch.nn.utils.clip_grad_norm": "clip_norm",
    "torch.nn.utils.clip_grad_value_": "clip_value",
}


@dataclass(slots=True)
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


@dataclass(slots=True)
class Calls:
    """What a function's own body holds of training steps."""

    backwards: list[Backward] = field(default_factory=list)
    steps: list[tuple[ast.stmt, ast.Call, str]] = field(default_factory=list)  # optimizer's source
    zeros: list[tuple[ast.stmt, ast.Call, str]] = field(default_factory=list)
    clips: list[tuple[ast.stmt, ast.Call, str]] = field(default_factory=list)
    scaled_steps: list[tuple[ast.stmt, ast.Call, str, str]] = field(default_factory=list)
    unscales: list[tuple[ast.stmt, ast.Call, str]] = field(default_factory=list)
    loops_over_optimizers: bool = False


def find_calls(body: list[ast.stmt], context: Context) -> Calls:
    """All training calls in a function's own body, in source order."""
    found = Calls()
    for block, statement in statements_below(body):
        call = _call_of(statement)
        if call is None or not isinstance(call.func, ast.Attribute | ast.Name):
            continue
        usage = context.usage(call.func)
        if usage is not None and usage.api in CLIPS:
            found.clips.append((statement, call, CLIPS[usage.api]))
        elif isinstance(call.func, ast.Attribute):
            _sort_method(found, block, statement, call, call.func, context)
    _keep_optimizers(found, context)
    _leave_loops_over_optimizers(found, body)
    for backward in found.backwards:
        backward.optimizer = _next_optimizer(backward, found, body)
        names = _stepping_with(backward, found, body)
        if len(names) > 1:
            backward.optimizer, *rest = names
            backward.others = tuple(rest)
    return found


def _leave_loops_over_optimizers(found: Calls, body: list[ast.stmt]) -> None:
    """`for o in optimizers: o.step()`: each takes its gradients from its parameters."""
    passing = {
        statement
        for statement, _, name in (*found.steps, *found.zeros)
        if isinstance(loop := innermost_loop(body, statement), ast.For)
        and name.partition(".")[0].partition("[")[0] in binds(loop.target)
        and not any(b.statement in set(ast.walk(loop)) for b in found.backwards)
    }
    found.loops_over_optimizers = any(s in passing for s, _, _ in found.steps)
    found.steps = [entry for entry in found.steps if entry[0] not in passing]
    found.zeros = [entry for entry in found.zeros if entry[0] not in passing]


def _stepping_with(backward: Backward, calls: Calls, body: list[ast.stmt]) -> list[str]:
    """`loss.backward(); encoder_optimizer.step(); decoder_optimizer.step()`: all that step between
    the backward passes here and the next ones.
    """
    steps = [(s.lineno, n) for s, _, n in calls.steps if not _is_in_loop_apart(s, backward, body)]
    steps += [
        (s.lineno, n)
        for s, _, _, n in calls.scaled_steps
        if not _is_in_loop_apart(s, backward, body)
    ]
    line = backward.statement.lineno
    after = [entry for entry in sorted(steps) if entry[0] > line]
    if not after:
        return []
    following = [b.statement.lineno for b in calls.backwards if b.statement.lineno > after[0][0]]
    end = min(following, default=10**9)
    names = dict.fromkeys(name for at, name in after if at < end)
    if len(names) > 1 and _in_branches(body, [s for s, _, n in calls.steps if n in names]):
        return []
    return list(names)


def _in_branches(body: list[ast.stmt], steps: list[ast.stmt]) -> bool:
    """`if phase: a.step() else: b.step()`: one of them steps, not both."""
    for _, statement in statements_below(body):
        if isinstance(statement, ast.If):
            inside = [
                {id(inner) for _, inner in statements_below(branch)}
                for branch in (statement.body, statement.orelse)
            ]
            if all(any(id(step) in branch for step in steps) for branch in inside):
                return True
    return False


def _next_optimizer(backward: Backward, calls: Calls, body: list[ast.stmt]) -> str:
    """The optimizer that steps next after this backward pass, or again before it."""
    steps = [(s, name) for s, _, name in calls.steps]
    steps += [(s, name) for s, _, _, name in calls.scaled_steps]
    line = backward.statement.lineno
    # A step in a loop that the backward pass is not in belongs to another one.
    lines = [(s.lineno, n) for s, n in steps if not _is_in_loop_apart(s, backward, body)]
    after = [entry for entry in lines if entry[0] > line]
    return min(after or lines, default=(0, ""))[1]


def _is_in_loop_apart(step: ast.stmt, backward: Backward, body: list[ast.stmt]) -> bool:
    loop = outermost_loop(body, step)
    return loop is not None and outermost_loop(body, backward.statement) is not loop


def _call_of(statement: ast.stmt) -> ast.Call | None:
    """The call that a statement is, or whose result it assigns."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign) and isinstance(value, ast.Call):
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
        if _may_be(context.type(receiver), "torch.Tensor"):
            scaler, bare = _unscaled(receiver)
            found.backwards.append(Backward(statement, block, call, receiver, bare, scaler))
    elif name == "zero_grad":
        found.zeros.append((statement, call, ast.unparse(receiver)))
    elif name == "step" and len(call.args) == 1 and isinstance(statement, ast.Expr):
        found.scaled_steps.append(
            (statement, call, ast.unparse(receiver), ast.unparse(call.args[0]))
        )
    elif name == "step" and not call.args:
        found.steps.append((statement, call, ast.unparse(receiver)))
    elif name == "unscale_" and len(call.args) == 1:
        found.unscales.append((statement, call, ast.unparse(receiver)))


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


def _keep_optimizers(found: Calls, context: Context) -> None:
    """A scheduler's step() is none of ours: keep receivers that are optimizers, by type or by
    use.
    """
    scalers = {backward.scaler for backward in found.backwards if backward.scaler}
    found.scaled_steps = [entry for entry in found.scaled_steps if entry[2] in scalers]
    found.unscales = [entry for entry in found.unscales if entry[2] in scalers]
    zeroed = {name for _, _, name in found.zeros}
    kept = []
    for statement, call, name in found.steps:
        assert isinstance(call.func, ast.Attribute)
        kind = context.type(call.func.value)
        known = _is_a(kind, OPTIMIZER)
        if known or (kind is UNKNOWN and (name in zeroed or "opt" in name.lower())):
            kept.append((statement, call, name))
    found.steps = kept


def _is_a(value: Value, base: str) -> bool:
    return any(
        base in ancestors(name)
        for option in options_of(value)
        if isinstance(option, Instance)
        for name in ([option.cls] if isinstance(option.cls, str) else option.cls.library_bases())
    )


def _may_be(value: Value, base: str) -> bool:
    return value is UNKNOWN or _is_a(value, base)
