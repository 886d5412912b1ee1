"""Gradients that nobody uses: `y.sum().backward()` in a function that tries its model out.

Such a function builds its model, and the model stays there: no optimizer, no other code sees what
backward() left at the parameters. Its gradients are computed like any step's, and then dropped,
where a record of all operators would put the whole program into PyNative mode for them.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from migrate.pipeline.context import Context
from migrate.plan.find import Backward, Calls
from migrate.plan.loops import outermost_loop
from migrate.plan.names import binds, reads, statements_below

_SWITCHES = ("train", "eval", "to", "cuda", "cpu", "zero_grad")


def are_unused(
    backward: Backward,
    calls: Calls,
    body: list[ast.stmt],
    models: Sequence[str],
    context: Context,
) -> bool:
    """Whether the gradients of these models end here."""
    if calls.steps or calls.scaled_steps or calls.zeros or calls.clips or calls.unscales:
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
    later = [s for s in statements if s.lineno > backward.statement.lineno]
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
