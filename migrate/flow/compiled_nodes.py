"""The compiled functions of one file by the types of what they call: forward of every Module, and
all that it reaches in the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.resolve.members import class_is_module, is_property
from migrate.resolve.modules import ModuleScope
from migrate.resolve.values import Method, ProjectFunction, Value, options_of

Function = ast.FunctionDef | ast.AsyncFunctionDef

_ENTRANCES = ("forward", "__call__")
# What is never compiled (annotations, decorators), and fields without statements or expressions.
_SKIPPED = frozenset({"annotation", "returns", "decorator_list", "ctx", "op", "ops"})
_FIELDS = {
    kind: tuple(name for name in kind._fields if name not in _SKIPPED)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
_FIELDS[ast.Constant] = _FIELDS[ast.Name] = ()


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
        nodes = _nodes(definition)
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


def _nodes(function: Function) -> list[ast.AST]:
    """The body's nodes, in no particular order; inner functions belong to the outer one."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        found.append(node)
        for name in _FIELDS[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                pending += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                pending.append(value)
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
