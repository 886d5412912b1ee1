"""What the names in a function mean, for functions of the file in hand and of other files.

The resolver has typed every expression of the file in hand. Of other files it keeps no types: there
names are looked up in their module, and attributes of self in their class.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from migrate.resolve.hierarchy import is_module
from migrate.resolve.values import (
    UNKNOWN,
    External,
    Instance,
    Method,
    ProjectClass,
    ProjectFunction,
    ProjectModule,
    Value,
    options_of,
)
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.resolve import FileResolution
    from migrate.resolve.interpreter import Interpreter
    from migrate.resolve.module_scope import ModuleScope


class Target(NamedTuple):
    """A function that a call may run; `bound` when its first parameter is the receiver."""

    function: ProjectFunction
    bound: bool


class Symbols:
    """Types, torch names and call targets."""

    def __init__(self, resolution: FileResolution, interpreter: Interpreter | None) -> None:
        self._types = resolution.types
        self._usages = {usage.node: usage for usage in resolution.usages}
        self._interpreter = interpreter
        self.scope = resolution.scope
        self._foreign: dict[ast.AST, tuple[ModuleScope, ProjectClass | None]] = {}

    def enter(self, function: ProjectFunction) -> None:
        """Make the names in a function of another file known."""
        if function.module is not self.scope and function.node not in self._foreign:
            if self._interpreter is not None and not isinstance(function.node, ast.Lambda):
                self._interpreter.modules.body_of(function)
            for node in all_nodes(function.node):
                self._foreign[node] = (function.module, function.owner)

    def module_of(self, function: ast.AST) -> ModuleScope | None:
        """The module that a function stands in: the file in hand, or the one it was entered in."""
        return self._foreign[function][0] if function in self._foreign else self.scope

    def type(self, node: ast.AST | None) -> Value:
        if node is None:
            return UNKNOWN
        found = self._types.get(node, UNKNOWN)
        if found is UNKNOWN and node in self._foreign:
            return self._look_up(node)
        return found

    def _look_up(self, node: ast.AST) -> Value:
        module, owner = self._foreign[node]
        if isinstance(node, ast.Name):
            if node.id == "self" and owner is not None:
                return Instance(owner)
            return self._interpreter.look_up(node.id, module) if self._interpreter else UNKNOWN
        if isinstance(node, ast.Attribute):
            return self._member(self.type(node.value), node.attr, module)
        if isinstance(node, ast.Call):
            made = self.type(node.func)
            if isinstance(made, ProjectClass):
                return Instance(made)
            if isinstance(made, External) and is_module(made.name):
                return Instance(made.name)
        return UNKNOWN

    def _member(self, owner: Value, name: str, module: ModuleScope) -> Value:
        if isinstance(owner, External):
            return External(f"{owner.name}.{name}")
        if isinstance(owner, ProjectModule) and self._interpreter is not None:
            return self._interpreter.member_of_module(owner.name, name)[0]
        if isinstance(owner, Instance) and isinstance(owner.cls, ProjectClass):
            for base in owner.cls.lineage():
                if isinstance(base, ProjectClass):
                    if name in base.attributes:
                        return base.attributes[name]
                    method = base.body.get(name)
                    if isinstance(method, ProjectFunction):
                        return Method(owner, method)
        return UNKNOWN

    def api(self, function: ast.AST) -> str:
        """The torch name of what is called, "" where it is none or not known."""
        usage = self._usages.get(function)
        if usage is not None:
            return usage.api
        if function in self._foreign:
            found = self.type(function)
            if isinstance(found, External):
                return found.name
        return ""

    def targets(self, call: ast.Call) -> list[Target]:
        """The functions of the program that a call may run."""
        found: list[Target] = []
        for option in options_of(self.type(call.func)):
            target = _target(option)
            if target is not None:
                found.append(target)
                self.enter(target.function)
        return found


def _target(option: Value) -> Target | None:
    if isinstance(option, Method) and isinstance(option.function, ProjectFunction):
        return Target(option.function, not _is_static(option.function))
    if isinstance(option, Instance) and isinstance(option.cls, ProjectClass):
        for name in ("forward", "__call__"):
            for base in option.cls.lineage():
                method = base.body.get(name) if isinstance(base, ProjectClass) else None
                if isinstance(method, ProjectFunction):
                    return Target(method, True)
    if isinstance(option, ProjectFunction):
        return Target(option, False)
    return None


def _is_static(function: ProjectFunction) -> bool:
    decorators = getattr(function.node, "decorator_list", ())
    return any(name_of(d) == "staticmethod" for d in decorators)
