"""Who uses the gradients of a backward pass besides the optimizer that steps next: `p.grad`, a step
or clipping in another function or file; or nobody.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from functools import lru_cache

from migrate.flow.blocks import outermost_loop, statements_below
from migrate.flow.models import models_called
from migrate.flow.names import binds, reads
from migrate.flow.parameter_use import is_parameter
from migrate.flow.project_flags import reads_gradients
from migrate.pipeline.context import Context
from migrate.plan.find import CLIPS, CLOSURE_STEP, Backward, Calls
from migrate.project import Project, ReadProblem, SourceFile
from migrate.resolve.hierarchy import OPTIMIZER, ancestors
from migrate.resolve.values import UNKNOWN
from migrate.syntax.ast_index import nodes_of


def keeps_gradients(tree: ast.Module, calls: Sequence[Calls], context: Context) -> bool:
    """Gradients must be found at the parameters, where torch leaves them."""
    apart = any(one.backwards and not _steps(one) for one in calls) and any(
        _steps(one) and not one.backwards for one in calls
    )
    apart |= any(backward.others for one in calls for backward in one.backwards)
    apart |= gradients_cross_functions(context.modules.project) or _clips_apart(calls, context)
    apart |= any(one.loops_over_optimizers for one in calls)
    apart |= any(usage.api == CLOSURE_STEP for usage in context.usages.values())
    here = any(
        is_gradient(node, context) or _may_be_gradient(node, context)
        for node in nodes_of(tree, ast.Attribute)
    )
    return apart or here or reads_gradients(context.modules.project, context.resolution.source)


def _clips_apart(calls: Sequence[Calls], context: Context) -> bool:
    """Clipping inside of an expression: `norms.append(clip_grad_norm_(...))`."""
    claimed = {clip.call.func for one in calls for clip in one.clips if one.backwards}
    return any(u.api in CLIPS and key not in claimed for key, u in context.usages.items())


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
    nodes = [node for part in parts for node in ast.walk(part)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    short_lived = {
        name for node in nodes if isinstance(node, ast.comprehension) for name in binds(node.target)
    }
    if any(model.partition(".")[0] in short_lived for model in models_called(calls, context.flow)):
        return ""  # `[net(x) for net in nets]`: no name for their parameters
    lists = [f"{model}.trainable_params()" for model in models_called(calls, context.flow)]
    if len(lists) < 2:
        return lists[0] if lists else ""
    return f"[{', '.join(f'*{one}' for one in lists)}]"


_WORDS = ("backward", "step", "zero_grad", "clip_grad_norm_", "clip_grad_value_")


def gradients_cross_functions(project: Project) -> bool:
    """A function of the program steps, clips or clears gradients that another one computes."""
    return _crossing(tuple(project.files))


@lru_cache(maxsize=8)
def _crossing(files: tuple[SourceFile, ...]) -> bool:
    apart = False
    trains = False
    clears = leaves = False  # zero_grad() in one function, backward() without it in another
    for called in _called_together(files):
        backward = "backward" in called
        trains |= backward
        clears |= "zero_grad" in called and not backward
        leaves |= backward and "zero_grad" not in called
        clips = any(word.startswith("clip_grad_") for word in called)
        apart |= not backward and (clips or called.get("step", False))
        apart |= called.get("set_to_none=False", False)
    return (apart and trains) or (clears and leaves)


def _called_together(files: tuple[SourceFile, ...]) -> Iterator[dict[str, bool]]:
    """For each function, which of the calls of a training step it has itself."""
    for file in files:
        try:
            text = file.read()
            if not any(word in text for word in _WORDS):
                continue
            tree = ast.parse(text)
        except (ReadProblem, SyntaxError, ValueError, RecursionError):
            continue
        functions = nodes_of(tree, ast.FunctionDef, ast.AsyncFunctionDef)
        bodies = [tree.body, *(node.body for node in functions)]
        for body in bodies:
            yield _calls_in(body)


def _calls_in(body: list[ast.stmt]) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for _, statement in statements_below(body):
        for part in ast.iter_child_nodes(statement):
            if isinstance(part, ast.stmt):
                continue
            for node in ast.walk(part):
                if isinstance(node, ast.Call):
                    _note(node, found)
    return found


def _note(call: ast.Call, found: dict[str, bool]) -> None:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name not in _WORDS:
        return
    if name == "step":
        owner = ast.unparse(function.value).lower() if isinstance(function, ast.Attribute) else ""
        found["step"] = found.get("step", False) or ("opt" in owner and not call.args)
        return
    found[name] = True
    if name == "zero_grad" and any(
        k.arg == "set_to_none" and isinstance(k.value, ast.Constant) and k.value.value is False
        for k in call.keywords
    ):
        found["set_to_none=False"] = True


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
            for node in ast.walk(statement.value)
        ):
            holders |= binds(statement)
    return holders


def _keeps_nothing(call: ast.Call, context: Context) -> bool:
    usage = context.usage(call.func)
    return usage is not None and usage.api.count(".") == 1  # torch.randn, not torch.optim.SGD


def _from_outside(statement: ast.stmt) -> set[str]:
    """What a function or a class takes from around it."""
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return set()
    own = {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
    return reads(statement) - own - binds(statement)


def _looks_into(statement: ast.stmt, holders: set[str]) -> bool:
    """A holder is handed to a function, returned, stored or has a method called."""
    own = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt)]
    inner = [node for part in own for node in ast.walk(part)]
    calls = [node for node in inner if isinstance(node, ast.Call)]
    if any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in inner):
        return True
    if any(_calls_method(call, holders) for call in calls):
        return True
    if any(_mentions(holders, _arguments(c)) for c in calls if not _is_harmless(c.func)):
        return True
    whole = {node.id for part in own for node in _named_whole(part)}
    return isinstance(statement, ast.Return | ast.Assign) and bool(holders & whole)


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
        for child in ast.iter_child_nodes(part):
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
        isinstance(node, ast.Name) and node.id in names for part in parts for node in ast.walk(part)
    )
