"""What a model's mode rests on where code outside of the request decides about it.

torch's modules start in training mode, and so the port lets them; a caller or a function that is
not in view may have called eval().
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from migrate.flow.blocks import Home
from migrate.flow.model_sources import argument_of, builds_here, callers_of, value_of
from migrate.flow.models import is_path, parameters_of
from migrate.pipeline.context import Context
from migrate.resolve.members import is_module_value
from migrate.resolve.values import UNKNOWN, External

_DEPTH = 4  # callers of callers that are followed


class UnseenModel(NamedTuple):
    """A model that a statement runs, and that this file neither builds nor switches."""

    name: str
    home: Home
    use: ast.stmt


def assume_given(models: Iterable[UnseenModel], context: Context) -> None:
    """Models that a function gets; none where the rest of the request shows from whom."""
    for model in models:
        if not _is_shown(model.name, model.home, context):
            _assume(model.use, model.name, _origin(model), context)


def assume_built(built: Iterable[tuple[ast.AST | None, list[str]]], context: Context) -> None:
    """Models that a function out of view builds: `model = build(3)`."""
    for statement, names in built:
        if not isinstance(statement, ast.stmt):
            continue
        for name in names:
            value = value_of(statement, name)
            if isinstance(value, ast.Call) and not _is_known(value, context):
                origin = f"what `{ast.unparse(value.func)}` does"
                _assume(statement, name, origin, context)


def _assume(place: ast.stmt, name: str, origin: str, context: Context) -> None:
    what = f"`{name}` is in training mode here, as torch builds modules: {origin} is not in view"
    step = f"port those files too, or print `{name}.training` at this line in both programs"
    context.assume(place, what, step)


def _origin(model: UnseenModel) -> str:
    root = model.name.partition(".")[0]
    if isinstance(model.home, ast.Module) or root not in parameters_of(model.home):
        return "where it is built"
    return f"who calls `{model.home.name}`"


def _is_known(call: ast.Call, context: Context) -> bool:
    """A class of the program or of torch, or a function whose body was looked at."""
    return is_module_value(context.type(call)) or bool(context.flow.calls.targets(call))


def _is_shown(name: str, home: Home, context: Context, depth: int = _DEPTH) -> bool:
    """The callers in this file, or the other files of the request, say where the model comes from:
    what they do to its mode was seen.
    """
    root = name.partition(".")[0]
    if isinstance(home, ast.Module) or root not in parameters_of(home):
        return _is_imported(root, context) or bool(builds_here(home, name, context.tree))
    found = [
        (caller.home, argument_of(caller.call, home, root))
        for caller in callers_of(home, context.tree)
    ]
    given = [(function, argument) for function, argument in found if argument is not None]
    if not given or not depth:
        return bool(context.flow.callers_elsewhere.given(home, root))
    return all(
        _is_known(argument, context)
        if isinstance(argument, ast.Call)
        else is_path(argument) and _is_shown(ast.unparse(argument), function, context, depth - 1)
        for function, argument in given
    )


def _is_imported(root: str, context: Context) -> bool:
    """From a file of the program."""
    scope = context.resolution.scope
    held = scope.frame.imports.get(root, UNKNOWN) if scope is not None else UNKNOWN
    return held is not UNKNOWN and not isinstance(held, External)
