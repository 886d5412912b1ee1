"""Which calls of a file ask for gradients of plain tensors: `autograd.grad(loss, x)`, and
`loss.backward()` for the sake of `x.grad`.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.plan.find import Backward, Calls
from migrate.plan.gradient_users import Home
from migrate.plan.input_gradients import (
    GRAD,
    InputGradients,
    call_arguments,
    input_names,
    one_of,
    plan_gradients,
)
from migrate.plan.names import binds, innermost_loop, statements_below
from migrate.plan.parameters import is_parameter
from migrate.project import Project, ReadProblem


def plan_tensor_gradients(
    homes: list[Home], calls_of: dict[int, Calls], context: Context, taken: set[str]
) -> list[InputGradients]:
    """All gradients of plain tensors in a file; backward() calls that serve them are no steps."""
    plans: list[InputGradients] = []
    for home in homes:
        named = set(taken)
        for block, statement in statements_below(home.body):
            for call in _own_calls(statement):
                usage = context.usage(call.func)
                if usage is None or usage.api != GRAD:
                    continue
                try:
                    plan = _of_call(call, statement, block, home, context)
                except Refusal:
                    continue  # the ordinary rewriting says what is wrong
                plans.append(_named(plan, named))
        calls = calls_of[id(home)]
        for backward in list(calls.backwards):
            found = _of_backward(backward, calls, home, context)
            if found is not None:
                plans.append(_named(found, named))
                calls.backwards.remove(backward)
    return plans


def _own_calls(statement: ast.stmt) -> list[ast.Call]:
    """The calls of a statement, those in its blocks left out."""
    found: list[ast.Call] = []
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            found.append(node)
        pending += [c for c in ast.iter_child_nodes(node) if not isinstance(c, ast.stmt)]
    return found


def _of_call(
    call: ast.Call, statement: ast.stmt, block: list[ast.stmt], home: Home, context: Context
) -> InputGradients:
    if isinstance(statement, ast.While | ast.For | ast.FunctionDef | ast.ClassDef):
        raise Refusal("gradients are asked for in the head of a block", "", "MS408")
    given = call_arguments(call)
    inputs = input_names(given["inputs"], context)
    start = given.get("grad_outputs")
    outputs = one_of(given["outputs"])
    start = one_of(start) if start is not None else None
    plan = plan_gradients(call, statement, block, home, outputs, inputs, start, context)
    plan.create_graph = given.get("create_graph")
    return plan


def _named(plan: InputGradients, taken: set[str]) -> InputGradients:
    plan.gradients_name = f"{'_'.join(plan.inputs)}_grads"
    for field_name in ("function_name", "gradients_name"):
        name, number = getattr(plan, field_name), 2
        free = name
        while free in taken:
            free, number = f"{name}_{number}", number + 1
        taken.add(free)
        setattr(plan, field_name, free)
    return plan


# x.grad ------------------------------------------------------------------------------------------


def _is_apart(backward: Backward, calls: Calls) -> bool:
    """A plain backward pass whose gradients no optimizer is given."""
    if len(calls.backwards) > 1 and not _is_followed_by_clearing(backward, calls):
        return False
    if len(calls.backwards) == 1 and (calls.steps or calls.scaled_steps):
        return False
    return not (backward.scaler or backward.call.args or backward.retains)


def _is_overtaken(reads: list[ast.Attribute], backward: Backward, calls: Calls) -> bool:
    """Whether another backward pass stands between this one and a read of the gradient."""
    return any(
        b.statement.lineno > backward.statement.lineno and n.lineno > b.statement.lineno
        for b in calls.backwards
        for n in reads
    )


def _of_backward(
    backward: Backward, calls: Calls, home: Home, context: Context
) -> InputGradients | None:
    """`loss.backward()`, and then `x.grad` of plain tensors: nothing else may use its gradients."""
    looked_at = _gradients_read(home, context)
    names = sorted({node.value.id for node in looked_at if isinstance(node.value, ast.Name)})
    names = [name for name in names if _is_cleared(name, backward, home)]
    if not names or len(names) < len({ast.unparse(node.value) for node in looked_at}):
        return None
    if not _is_apart(backward, calls):
        return None
    later = [n for n in looked_at if n.lineno > backward.statement.lineno]
    if not later or _is_overtaken(later, backward, calls):
        return None
    try:
        plan = plan_gradients(
            backward.call,
            backward.statement,
            backward.block,
            home,
            backward.loss,
            names,
            None,
            context,
        )
    except Refusal:
        return None
    plan.reads = {id(node): names.index(ast.unparse(node.value)) for node in later}
    plan.dropped += _clearing(names, home)
    if not calls.steps and not _are_cleared_by_others(backward, calls, home, context):
        context.flag(
            backward.statement,
            "MS408",
            "only the tensor's gradient is computed here; torch also adds to the gradients of the "
            "parameters, and a step elsewhere would see that",
            "call zero_grad() between this and the next backward pass",
        )
    return plan


def _gradients_read(home: Home, context: Context) -> list[ast.Attribute]:
    return [
        node
        for _, statement in statements_below(home.body)
        for part in ast.iter_child_nodes(statement)
        if not isinstance(part, ast.stmt)
        for node in ast.walk(part)
        if isinstance(node, ast.Attribute)
        and node.attr == "grad"
        and isinstance(node.ctx, ast.Load)
        and not is_parameter(context.type(node.value))
        and context.usage(node) is not None
        and not _clears(statement)
    ]


def _clears(statement: ast.stmt, name: str = "") -> bool:
    """`x.grad.zero_()`, `x.grad.data.zero_()`, `x.grad = None`"""
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        none = isinstance(statement.value, ast.Constant) and statement.value.value is None
        text = ast.unparse(target)
        return none and text.endswith(".grad") and (not name or text == f"{name}.grad")
    call = statement.value if isinstance(statement, ast.Expr) else None
    text = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
    wanted = (".grad.zero_", ".grad.data.zero_")
    return text.endswith(wanted) and (not name or text.partition(".")[0] == name)


def _clearing(names: list[str], home: Home) -> list[ast.stmt]:
    return [s for _, s in statements_below(home.body) if any(_clears(s, name) for name in names)]


def _is_cleared(name: str, backward: Backward, home: Home) -> bool:
    """Each round starts without a gradient: the tensor is made anew, or its gradient cleared."""
    loop = innermost_loop(home.body, backward.statement)
    if loop is None:
        return True
    inside = [s for _, s in statements_below([loop])]
    return any(
        s is not loop and (_clears(s, name) or (isinstance(s, ast.Assign) and name in binds(s)))
        for s in inside
    )


def _is_followed_by_clearing(backward: Backward, calls: Calls) -> bool:
    """`opt.zero_grad()` stands between this backward pass and the next one."""
    line = backward.statement.lineno
    later = [b.statement.lineno for b in calls.backwards if b.statement.lineno > line]
    end = min(later, default=10**9)
    return any(line < s.lineno < end for s, _, _ in calls.zeros)


def _are_cleared_by_others(backward: Backward, calls: Calls, home: Home, context: Context) -> bool:
    """What backward() leaves at the parameters is cleared before anyone steps, or nobody does."""
    if any(s.lineno > backward.statement.lineno for s, _, _ in calls.zeros):
        return True
    texts = _texts(context.modules.project)
    if not any(".step(" in text for text in texts):
        return True
    name = getattr(home, "name", "")
    return bool(name) and all(_clears_after_calling(name, text) for text in texts)


def _clears_after_calling(name: str, text: str) -> bool:
    """Every function that calls this one and goes backward calls zero_grad() in between."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    homes = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    for body in [tree.body, *(home.body for home in homes)]:
        lines: dict[str, list[int]] = {}
        for _, statement in statements_below(body):
            for call in _own_calls(statement):
                last = ast.unparse(call.func).rpartition(".")[2]
                lines.setdefault(last, []).append(call.lineno)
        backwards, zeros = lines.get("backward", []), lines.get("zero_grad", [])
        for at in lines.get(name, ()):
            # Behind the call, or, where a loop comes round again, from the start.
            after = at if any(line > at for line in backwards) else 0
            going = [line for line in backwards if line > after]
            if going and not any(after < z < min(going) for z in zeros):
                return False
    return True


def _texts(project: Project) -> list[str]:
    found = []
    for file in project.files:
        try:
            found.append(file.read())
        except ReadProblem:
            continue
    return found
