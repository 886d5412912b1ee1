"""The compiled functions of one file by the types of what they call: forward of every Module, and
all that it reaches in the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.resolve.members import class_is_module, is_property
from migrate.resolve.module_scope import ModuleScope
from migrate.resolve.values import Method, ProjectFunction, Value, options_of
from migrate.syntax.ast_index import FieldsOfKinds, nodes_below

Function = ast.FunctionDef | ast.AsyncFunctionDef

_ENTRANCES = ("forward", "__call__")
# Annotations and decorators are never compiled.
_COMPILED = FieldsOfKinds(skipped=("annotation", "returns", "decorator_list"))


def compiled_code(
    scope: ModuleScope, types: dict[ast.AST, Value]
) -> Iterator[tuple[str, Function, list[ast.AST]]]:
    """(qualified name, definition, all nodes of the body) of each function of this file."""
    pending = [
        method
        for cls in scope.classes
        if class_is_module(cls)
        for name in _ENTRANCES
        if isinstance(method := cls.body.get(name), ProjectFunction)
    ]
    properties = _properties(scope)
    done: set[ast.AST] = set()
    while pending:
        function = pending.pop()
        definition = function.node
        if definition in done or function.module is not scope:
            continue
        done.add(definition)
        if isinstance(definition, ast.Lambda):
            continue  # part of the function that it stands in
        # In no particular order; inner functions belong to the outer one.
        nodes = nodes_below(list(definition.body), _COMPILED)
        yield function.qualified, definition, nodes
        pending += _called(nodes, types)
        for node in nodes if properties else ():
            if node.__class__ is ast.Attribute:
                pending += properties.get(node.attr, ())


def _properties(scope: ModuleScope) -> dict[str, list[ProjectFunction]]:
    """Of the Modules, by name: the compiler looks into a property that compiled code reads."""
    found: dict[str, list[ProjectFunction]] = {}
    for cls in scope.classes:
        for name, value in cls.body.items() if class_is_module(cls) else ():
            if isinstance(value, ProjectFunction) and is_property(value):
                found.setdefault(name, []).append(value)
    return found


def _called(nodes: list[ast.AST], types: dict[ast.AST, Value]) -> list[ProjectFunction]:
    functions: list[ProjectFunction] = []
    for node in nodes:
        if node.__class__ is not ast.Call:
            continue
        value = types.get(node.func)
        for option in options_of(value) if value is not None else ():
            target = option.function if isinstance(option, Method) else option
            if isinstance(target, ProjectFunction):
                functions.append(target)
    return functions
