"""Which calls of a file ask for gradients of plain tensors: `autograd.grad(loss, x)`, and
`loss.backward()` for the sake of `x.grad`.
"""

from __future__ import annotations

import ast

from migrate.flow.blocks import Home, innermost_loop, own_nodes, statements_below
from migrate.flow.cfg import ControlFlow
from migrate.flow.names import binds
from migrate.flow.parameter_use import is_parameter
from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.plan.find import Backward, Calls
from migrate.plan.gradient_users import is_gradient
from migrate.plan.input_gradients import (
    GRAD,
    InputGradients,
    call_arguments,
    holds_list,
    input_names,
    one_of,
    plan_gradients,
)
from migrate.plan.input_place import not_in_reach
from migrate.plan.recorded import creates_graph
from migrate.project import Project, ReadProblem
from migrate.syntax.access import is_read
from migrate.syntax.ast_index import all_nodes, child_nodes, nodes_of


def plan_tensor_gradients(
    homes: list[Home], calls_of: dict[Home, Calls], context: Context, taken: set[str]
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
        calls = calls_of[home]
        for backward in list(calls.backwards):
            found = _of_backward(backward, calls, home, context)
            if found is not None:
                plans.append(_named(found, named))
                calls.backwards.remove(backward)
    return plans


def _own_calls(statement: ast.stmt) -> list[ast.Call]:
    """The calls of a statement, those in its blocks left out."""
    return [node for node in own_nodes(statement) if isinstance(node, ast.Call)]


def _of_call(
    call: ast.Call, statement: ast.stmt, block: list[ast.stmt], home: Home, context: Context
) -> InputGradients:
    if isinstance(statement, (ast.While, ast.For, ast.FunctionDef, ast.ClassDef)):
        raise Refusal("gradients are computed in the header of a block", "", "MS408")
    given = call_arguments(call)
    inputs = input_names(given["inputs"], context)
    start = given.get("grad_outputs")
    outputs = one_of(given["outputs"])
    start = one_of(start) if start is not None else None
    plan = plan_gradients(call, statement, block, home, outputs, inputs, start, context)
    plan.create_graph = given.get("create_graph")
    plan.is_list = isinstance(given["inputs"], ast.Name) and holds_list(
        context.type(given["inputs"])
    )
    if plan.is_list and not creates_graph(call):
        raise not_in_reach()  # a record of the operators has them
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
    if len(calls.backwards) == 1 and calls.steps:
        return False
    return not (backward.scaler or backward.call.args or backward.retains)


def _is_overtaken(reads: list[ast.Attribute], backward: Backward, calls: Calls) -> bool:
    """Whether another backward pass stands between this one and a read of the gradient."""
    return any(
        calls.flow.cfg.follows(backward.statement, b.statement)
        and any(_comes_behind(read, b, calls) for read in reads)
        for b in calls.backwards
    )


def _comes_behind(node: ast.AST, backward: Backward, calls: Calls) -> bool:
    statement = calls.flow.cfg.statement_of(node)
    return statement is not None and calls.flow.cfg.follows(backward.statement, statement)


def _of_backward(
    backward: Backward, calls: Calls, home: Home, context: Context
) -> InputGradients | None:
    """`loss.backward()`, and then `x.grad` of plain tensors: nothing else may use its gradients."""
    looked_at = _gradients_read(home, context)
    names = sorted({node.value.id for node in looked_at if isinstance(node.value, ast.Name)})
    names = [name for name in names if _is_cleared(name, backward, home)]
    if not names or len(names) < len({ast.unparse(node.value) for node in looked_at}):
        return None
    if not _is_apart(backward, calls) or _reads_of_parameters(home, context):
        return None
    later = [n for n in looked_at if _comes_behind(n, backward, calls)]
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
    plan.reads = {node: names.index(ast.unparse(node.value)) for node in later}
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


def _reads_of_parameters(home: Home, context: Context) -> bool:
    """`model.weight.grad` beside `x.grad`: one backward pass gives both."""
    inside = [home] if not isinstance(home, ast.Module) else home.body
    return any(is_gradient(node, context) for part in inside for node in all_nodes(part))


def _gradients_read(home: Home, context: Context) -> list[ast.Attribute]:
    return [
        node
        for _, statement in statements_below(home.body)
        for part in child_nodes(statement)
        if not isinstance(part, ast.stmt)
        for node in all_nodes(part)
        if isinstance(node, ast.Attribute)
        and node.attr == "grad"
        and is_read(node)
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
    follows = calls.flow.cfg.follows
    later = [b.statement for b in calls.backwards if follows(backward.statement, b.statement)]
    return any(
        follows(backward.statement, zero.statement)
        and not any(follows(b, zero.statement) for b in later)
        for zero in calls.zeros
    )


def _are_cleared_by_others(backward: Backward, calls: Calls, home: Home, context: Context) -> bool:
    """What backward() leaves at the parameters is cleared before anyone steps, or nobody does."""
    if any(calls.flow.cfg.follows(backward.statement, zero.statement) for zero in calls.zeros):
        return True
    texts = _texts(context.modules.project)
    if not any(".step(" in text for text in texts):
        return True
    name = getattr(home, "name", "")
    return bool(name) and all(_clears_after_calling(name, text) for text in texts)


def _clears_after_calling(name: str, text: str) -> bool:
    """Every function that calls this one and goes backward calls zero_grad() in between."""
    if name not in text:
        return True
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    homes: list[Home] = [tree, *nodes_of(tree, ast.FunctionDef)]
    for home in homes:
        found: dict[str, list[ast.stmt]] = {}
        for _, statement in statements_below(home.body):
            for call in _own_calls(statement):
                last = getattr(call.func, "attr", getattr(call.func, "id", ""))
                found.setdefault(last, []).append(statement)
        if name not in found or "backward" not in found:
            continue
        cfg, zeros = ControlFlow(home), found.get("zero_grad", [])
        if any(
            cfg.may_follow(call, backward, without=zeros)
            for call in found[name]
            for backward in found["backward"]
        ):
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
