"""Who uses the gradients of a backward pass besides the optimizer that steps next: `p.grad`, a step
or clipping in another function or file; or nobody.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from migrate.flow.blocks import outermost_loop, statements_below
from migrate.flow.gradient_calls import gradients_cross_functions
from migrate.flow.late_bindings import is_made_in, is_made_later, may_lack
from migrate.flow.models import models_called
from migrate.flow.names import binds, reads
from migrate.flow.parameter_use import is_parameter
from migrate.flow.project_flags import reads_gradients
from migrate.pipeline.context import Context
from migrate.plan.find import CLIPS, CLOSURE_STEP, Backward, Calls
from migrate.resolve.hierarchy import OPTIMIZER, ancestors
from migrate.resolve.values import UNKNOWN
from migrate.syntax.ast_index import all_nodes, child_nodes, nodes_of


def keeps_gradients(tree: ast.Module, calls: Sequence[Calls], context: Context) -> bool:
    """Gradients must be found at the parameters, where torch leaves them."""
    apart = any(one.backwards and not _steps(one) for one in calls) and any(
        _steps(one) and not one.backwards for one in calls
    )
    apart |= any(backward.others for one in calls for backward in one.backwards)
    apart |= gradients_cross_functions(context.modules.project) or _clips_apart(calls, context)
    apart |= any(one.loops_over_optimizers for one in calls) or _clears_apart(tree, calls)
    apart |= any(_meets_later_optimizer(one) for one in calls)
    apart |= any(usage.api == CLOSURE_STEP for usage in context.usages.values())
    return apart or are_read(tree, context)


def are_read(tree: ast.Module, context: Context) -> bool:
    """The program looks at gradients of parameters itself, here or in another file."""
    here = any(
        is_gradient(node, context) or _may_be_gradient(node, context)
        for node in nodes_of(tree, ast.Attribute)
    )
    return here or reads_gradients(context.modules.project, context.resolution.source)


def trained_beside(
    backward: Backward, region: list[ast.stmt], calls: Calls, context: Context
) -> list[str]:
    """Parameters, as source, of networks that a step runs and that its optimizers may not have:
    torch leaves gradients at them, too, for whoever looks.
    """
    names = [name for name in (backward.optimizer, *backward.others) if name]
    parts = [*region, backward.bare]
    if not names or not trained_in(parts, context):
        return []  # a network without a name of its own
    running = models_called([n for n in _nodes(parts) if isinstance(n, ast.Call)], context.flow)
    held = {model for name in names for model in calls.models.get(name, ())}
    if not held and len({one.partition(".")[0] for one in running}) < 2:
        return []  # `train(model, optimizer)`: it was made for the one network that comes with it
    apart = [one for one in running if not any(f"{one}.".startswith(f"{model}.") for model in held)]
    return [
        f"{one}.trainable_params()"
        for one in apart
        if not any(one.startswith(f"{other}.") for other in apart)
    ]


def listed_weights(optimizers: Sequence[str], beside: Sequence[str]) -> str:
    """The parameters of these optimizers and of networks beside them, as source, each once."""
    lists = [*(f"{name}.parameters" for name in optimizers), *beside]
    if len(lists) == 1:
        return lists[0]
    text = f"[{', '.join(f'*{one}' for one in lists)}]"
    return f"list(dict.fromkeys({text}))" if beside else text


def _clips_apart(calls: Sequence[Calls], context: Context) -> bool:
    """Clipping inside of an expression: `norms.append(clip_grad_norm_(...))`."""
    claimed = {clip.call.func for one in calls for clip in one.clips if one.backwards}
    return any(u.api in CLIPS and key not in claimed for key, u in context.usages.items())


def _clears_apart(tree: ast.Module, calls: Sequence[Calls]) -> bool:
    """A zero_grad that is no statement beside a backward pass (`[o.zero_grad() for o in both]`),
    or one of a network where it is not clear which optimizer trains it.
    """
    claimed = {zero.call.func for one in calls for zero in one.zeros if one.backwards}
    if any(n.attr == "zero_grad" and n not in claimed for n in nodes_of(tree, ast.Attribute)):
        return any(one.backwards for one in calls)
    return any(one.backwards and len(one.optimizers) > 1 and _is_mixed_up(one) for one in calls)


def _meets_later_optimizer(calls: Calls) -> bool:
    """Gradients are computed, or may be cleared, where the optimizer that uses them does not exist
    yet.
    """
    flow = calls.flow
    computed = any(
        flow.cfg.follows(backward.statement, step.statement)
        and is_made_later(step.name, backward.statement, flow)
        for backward in calls.backwards
        for step in calls.steps
    )
    return computed or any(
        may_lack(name, zero.statement, flow)
        and not is_made_later(name, zero.statement, flow)
        and not _is_beside(zero.statement, name, calls)
        for zero in calls.zeros
        if calls.backwards and zero.by_network and (name := calls.zeroed_optimizer(zero))
    )


def _is_beside(statement: ast.stmt, optimizer: str, calls: Calls) -> bool:
    """In a loop with a backward pass for an optimizer that was made in front of it."""
    loops = calls.flow.cfg.loops_of
    passes = {
        loop for b in calls.backwards if b.optimizer == optimizer for loop in loops(b.statement)
    }
    return any(loop in passes and not is_made_in(loop, optimizer) for loop in loops(statement))


def _is_mixed_up(calls: Calls) -> bool:
    """`netG.zero_grad(); netD.zero_grad(); loss_d.backward()`, and nothing says which optimizer
    trains which: an optimizer that two networks are cleared for, beside one without.
    """
    receivers: dict[str, set[str]] = {name: set() for name in calls.optimizers}
    for zero in calls.zeros:
        receivers.setdefault(calls.zeroed_optimizer(zero), set()).add(zero.name)
    by_network = any(zero.name not in calls.optimizers for zero in calls.zeros)
    return by_network and any(len(names) != 1 for names in receivers.values())


def _steps(calls: Calls) -> bool:
    return bool(calls.steps)


def is_gradient(node: ast.AST, context: Context) -> bool:
    """`p.grad` of a parameter; that of a plain tensor is none of the optimizer's."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "grad"
        and is_parameter(context.type(node.value))
    )


def _may_be_gradient(node: ast.Attribute, context: Context) -> bool:
    """`net.layer1.weight.grad`, of which nothing is known; not a function called grad."""
    return (
        node.attr == "grad"
        and context.usage(node) is None
        and context.type(node) is UNKNOWN
        and context.type(node.value) is UNKNOWN
        and node not in {call.func for call in nodes_of(context.tree, ast.Call)}
    )


def overrides_step(cls: ast.ClassDef, context: Context) -> bool:
    """A subclass of one of torch's optimizers with a step() of its own."""
    methods = [node.name for node in cls.body if isinstance(node, ast.FunctionDef)]
    usages = [context.usage(base) for base in cls.bases]
    return "step" in methods and any(
        usage is not None and usage.api != OPTIMIZER and OPTIMIZER in ancestors(usage.api)
        for usage in usages
    )


def trained_in(parts: Sequence[ast.AST], context: Context) -> str:
    """The parameters of the models that run here, for want of an optimizer; empty if none."""
    nodes = _nodes(parts)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    short_lived = {
        name for node in nodes if isinstance(node, ast.comprehension) for name in binds(node.target)
    }
    models = models_called(calls, context.flow)
    if any(model.partition(".")[0] in short_lived for model in models):
        return ""  # `[net(x) for net in nets]`: no name for their parameters
    whole = [one for one in models if not any(one.startswith(f"{other}.") for other in models)]
    lists = [f"{model}.trainable_params()" for model in whole]
    if len(lists) < 2:
        return lists[0] if lists else ""
    # Each once: networks may share layers.
    return f"list(dict.fromkeys([{', '.join(f'*{one}' for one in lists)}]))"


def _nodes(parts: Sequence[ast.AST]) -> list[ast.AST]:
    return [node for part in parts for node in all_nodes(part)]


_SWITCHES = ("train", "eval", "to", "cuda", "cpu", "zero_grad")


def are_unused(
    backward: Backward,
    calls: Calls,
    body: list[ast.stmt],
    models: Sequence[str],
    context: Context,
) -> bool:
    """Whether the gradients of these models end here."""
    if calls.statements:
        return False
    statements = [statement for _, statement in statements_below(body)]
    # A model from outside of the loop comes by again what stands in front of backward().
    loop = outermost_loop(body, backward.statement)
    round_ = [s for _, s in statements_below(body if loop is None else [loop])]
    running = set(models) - _builders(statements, models)
    if not running or not all(_is_built_in(round_, model) for model in running):
        return False
    holders = _holders(statements, running, context)
    if any(holders & _from_outside(statement) for statement in statements):
        return False
    later = [s for s in statements if calls.flow.cfg.follows(backward.statement, s)]
    return not any(_looks_into(statement, holders) for statement in later)


def _builders(statements: list[ast.stmt], models: Sequence[str]) -> set[str]:
    """`net = model(pretrained=False)`: a function that is called like the model it makes."""
    return {
        ast.unparse(statement.value.func)
        for statement in statements
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
        if binds(statement) & set(models)
    }


def _is_built_in(statements: list[ast.stmt], model: str) -> bool:
    """`net = build(...)`, with all that is done to it afterwards: `net = net.to(device)`."""
    return any(
        isinstance(statement, ast.Assign)
        and model in binds(statement)
        and isinstance(statement.value, ast.Call)
        and model not in reads(statement)
        for statement in statements
    )


def _holders(statements: list[ast.stmt], models: set[str], context: Context) -> set[str]:
    """The models, and what was made with one as an argument: `trainer = Trainer(net)`.

    Not `torch.randn(1, 3, *net.in_size)`: torch's functions of numbers and tensors keep nothing.
    """
    holders = set(models)
    for statement in statements:
        if isinstance(statement, ast.Assign) and any(
            isinstance(node, ast.Call)
            and _mentions(holders, _arguments(node))
            and not _keeps_nothing(node, context)
            for node in all_nodes(statement.value)
        ):
            holders |= binds(statement)
    return holders


def _keeps_nothing(call: ast.Call, context: Context) -> bool:
    usage = context.usage(call.func)
    return usage is not None and usage.api.count(".") == 1  # torch.randn, not torch.optim.SGD


def _from_outside(statement: ast.stmt) -> set[str]:
    """What a function or a class takes from around it."""
    if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return set()
    own = {node.arg for node in all_nodes(statement) if isinstance(node, ast.arg)}
    return reads(statement) - own - binds(statement)


def _looks_into(statement: ast.stmt, holders: set[str]) -> bool:
    """A holder is handed to a function, returned, stored or has a method called."""
    own = [part for part in child_nodes(statement) if not isinstance(part, ast.stmt)]
    inner = [node for part in own for node in all_nodes(part)]
    calls = [node for node in inner if isinstance(node, ast.Call)]
    if any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in inner):
        return True
    if any(_calls_method(call, holders) for call in calls):
        return True
    if any(_mentions(holders, _arguments(c)) for c in calls if not _is_harmless(c.func)):
        return True
    whole = {node.id for part in own for node in _named_whole(part)}
    return isinstance(statement, (ast.Return, ast.Assign)) and bool(holders & whole)


def _calls_method(call: ast.Call, holders: set[str]) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr not in _SWITCHES
        and _mentions(holders, [function.value])
    )


def _named_whole(part: ast.AST) -> Iterator[ast.Name]:
    """Names that stand for themselves, not for one of their members or what they are called for."""
    if isinstance(part, ast.Name):
        yield part
    elif isinstance(part, ast.Call):
        for argument in _arguments(part):
            yield from _named_whole(argument)
    elif not isinstance(part, ast.Attribute):
        for child in child_nodes(part):
            yield from _named_whole(child)


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _is_harmless(function: ast.expr) -> bool:
    """print(weight_count), "{}".format(weight_count): they show, and keep nothing."""
    if isinstance(function, ast.Name):
        return hasattr(builtins, function.id)
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Constant)


def _mentions(names: set[str], parts: Sequence[ast.AST]) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id in names
        for part in parts
        for node in all_nodes(part)
    )
