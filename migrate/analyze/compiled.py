"""Which functions Graph mode would compile: forward of every Module, and all that it calls here."""

from __future__ import annotations

import ast

from migrate.resolve.members import class_is_module
from migrate.resolve.modules import ModuleScope
from migrate.resolve.values import Method, ProjectFunction, Value, options_of

_ENTRANCES = ("forward", "__call__")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def compiled_functions(scope: ModuleScope, types: dict[int, Value]) -> list[tuple[str, Function]]:
    """(qualified name, definition), in source order; only functions of this file."""
    pending = [
        method
        for cls in scope.classes
        if class_is_module(cls)
        for name in _ENTRANCES
        if isinstance(method := cls.body.get(name), ProjectFunction)
    ]
    found: dict[int, ProjectFunction] = {}
    while pending:
        function = pending.pop()
        if id(function.node) in found or function.module is not scope:
            continue
        found[id(function.node)] = function
        pending += _called(function.node, types)
    definitions = [
        (function.qualified, function.node)
        for function in found.values()
        if isinstance(function.node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return sorted(definitions, key=lambda item: item[1].lineno)


def _called(node: ast.AST, types: dict[int, Value]) -> list[ProjectFunction]:
    functions: list[ProjectFunction] = []
    for part in ast.walk(node):
        if not isinstance(part, ast.Call):
            continue
        value = types.get(id(part.func))
        for option in options_of(value) if value is not None else ():
            target = option.function if isinstance(option, Method) else option
            if isinstance(target, ProjectFunction):
                functions.append(target)
    return functions
