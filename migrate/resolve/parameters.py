"""What the parameters of a function are: by annotation, by what callers pass, by default."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from migrate.resolve.frames import Frame
from migrate.resolve.members import class_is_module
from migrate.resolve.parameter_evidence import is_no_tensor, without_tensors
from migrate.resolve.statements import Statements
from migrate.resolve.values import (
    NONE,
    TENSOR,
    UNKNOWN,
    Instance,
    Known,
    ListOf,
    ProjectFunction,
    Value,
    join,
    type_of_constant,
)
from migrate.syntax.access import name_of

# Parameters of forward that are no data: taking `dim` for a tensor would choose a wrong overload.
_SETTING = re.compile(
    r"dim|axis|axes|device|dtype|size|shape|mode|name|kind|type|num|count|factor|return_|use_|is_"
    r"|need|flag|step|epoch|train|stride|pad|kernel|offset|level|layer|length|height|width|config"
    r"|^[nkhwtbcpHWTBNC]$"
)
_Parameters = list[tuple[ast.arg, ast.expr | None]]  # each with its default


def bind_parameters(interpreter: Statements, function: ProjectFunction, frame: Frame) -> None:
    arguments = function.node.args
    positional = list(_with_defaults(arguments))
    computes = _is_forward(function)
    if _has_receiver(function):
        _bind_receiver(interpreter, function, frame, positional)
    elif _is_of_custom_gradient(function):
        # A context stands where other methods have self; then come tensors, and gradients.
        computes = True
        for context, _ in positional[:1]:
            interpreter.annotation(context.annotation)
            frame.bind(context.arg, UNKNOWN)
        positional = positional[1:]
    keyword = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    for argument, default in (*positional, *keyword):
        frame.bind(argument.arg, _parameter(interpreter, function, argument, default, computes))
    if arguments.vararg:
        item = interpreter.annotation(arguments.vararg.annotation)
        item = TENSOR if computes and item is UNKNOWN else item
        frame.bind(arguments.vararg.arg, ListOf(item, "tuple"))
    if arguments.kwarg:
        item = interpreter.annotation(arguments.kwarg.annotation)
        frame.bind(arguments.kwarg.arg, ListOf(item, "dict"))


def _with_defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    without = len(positional) - len(arguments.defaults)
    return zip(positional, [*([None] * without), *arguments.defaults], strict=True)


def _bind_receiver(
    interpreter: Statements, function: ProjectFunction, frame: Frame, positional: _Parameters
) -> None:
    """`self`, or `cls` of a class method."""
    if not positional or function.owner is None:
        return
    argument, _ = positional.pop(0)
    interpreter.annotation(argument.annotation)
    is_class = _has_decorator(function, "classmethod")
    frame.bind(argument.arg, function.owner if is_class else Instance(function.owner))


def _parameter(
    interpreter: Statements,
    function: ProjectFunction,
    argument: ast.arg,
    default: ast.expr | None,
    computes: bool,
) -> Value:
    """Annotation, else what callers pass, else the default.

    Forward's bare parameters are tensors.
    """
    stated = interpreter.annotation(argument.annotation)
    if stated is not UNKNOWN:
        function.stated |= {argument.arg}  # whatever callers pass
        return stated
    value = _unstated(interpreter, function, argument, default, computes)
    function.bound[argument.arg] = value
    return value


def _unstated(
    interpreter: Statements,
    function: ProjectFunction,
    argument: ast.arg,
    default: ast.expr | None,
    computes: bool,
) -> Value:
    hint = function.hints.get(argument.arg, UNKNOWN)
    fallback = _default(interpreter, default, function)
    other = computes and is_no_tensor(function.node, argument.arg, interpreter.table)
    if other and hint is not UNKNOWN:
        hint = without_tensors(hint)
    if hint is not UNKNOWN:
        return join(hint, fallback)
    data = computes and not other and not _SETTING.search(argument.arg)
    if data and (default is None or fallback is NONE):
        return TENSOR if default is None else join(TENSOR, NONE)
    return UNKNOWN if fallback is NONE else fallback


def _default(interpreter: Statements, default: ast.expr | None, function: ProjectFunction) -> Value:
    if default is None:
        return UNKNOWN
    outer, interpreter.frame = interpreter.frame, function.frame
    usages, interpreter.usages = interpreter.usages, {}  # recorded when the definition was executed
    known = interpreter.module.functions
    made = None
    if default.__class__ is ast.Lambda:
        made = next((function for function in reversed(known) if function.node is default), None)
    count = len(known)
    value = interpreter.evaluate(default) if made is None else made
    del known[count:]  # lambdas in it are known already; lambdas in lambdas would double each time
    interpreter.frame, interpreter.usages = outer, usages
    if isinstance(value, Known):
        return NONE if value.value is None else type_of_constant(value)
    return value


def _has_receiver(function: ProjectFunction) -> bool:
    return function.owner is not None and not _has_decorator(function, "staticmethod")


def _is_forward(function: ProjectFunction) -> bool:
    """forward of a Module: it computes."""
    if not _has_receiver(function) or function.owner is None:
        return False
    return function.qualified.rpartition(".")[2] == "forward" and class_is_module(function.owner)


def _is_of_custom_gradient(function: ProjectFunction) -> bool:
    """forward and backward of a torch.autograd.Function, which are static."""
    return (
        function.owner is not None
        and function.qualified.rpartition(".")[2] in ("forward", "backward")
        and "torch.autograd.Function" in function.owner.library_bases()
    )


def _has_decorator(function: ProjectFunction, name: str) -> bool:
    decorators = getattr(function.node, "decorator_list", ())
    return any(name_of(d) == name for d in decorators)
