"""A light look at a module that is only imported: what it binds, with every value left until it
is asked for.
"""

from __future__ import annotations

import ast

from migrate.resolve.frames import Frame
from migrate.resolve.modules import Modules, ModuleScope, bind_import, bind_import_from
from migrate.resolve.values import ProjectClass, ProjectFunction, Value


class Deferred(Value):
    """An expression of another module, not evaluated yet."""

    __slots__ = ("frame", "module", "node", "value")

    def __init__(self, node: ast.expr, module: ModuleScope, frame: Frame) -> None:
        self.value: Value | None = None
        self.node = node
        self.module = module
        self.frame = frame


def outline(scope: ModuleScope, modules: Modules) -> None:
    """Bind the module's names.

    Following its own imports and expressions is left to whoever needs them.
    """
    _outline_body(scope.tree.body, scope, scope.frame, modules)


def _outline_body(
    body: list[ast.stmt],
    scope: ModuleScope,
    frame: Frame,
    modules: Modules,
) -> None:
    for node in body:
        if isinstance(node, ast.Import):
            bind_import(node, frame, modules, scope.source)
        elif isinstance(node, ast.ImportFrom):
            bind_import_from(node, frame, modules, scope.source)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            qualified = f"{frame.scope}.{node.name}".lstrip(".")
            frame.bind(node.name, ProjectFunction(node, scope, frame, qualified, frame.cls))
        elif isinstance(node, ast.ClassDef):
            _outline_class(node, scope, frame, modules)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and node.value is not None:
                    frame.bind(target.id, Deferred(node.value, scope, frame))
        elif isinstance(node, ast.If):
            _outline_body([*node.orelse, *node.body], scope, frame, modules)
        elif isinstance(node, ast.Try):
            handlers = [statement for handler in node.handlers for statement in handler.body]
            _outline_body(
                [*handlers, *node.body, *node.orelse, *node.finalbody], scope, frame, modules
            )
        elif isinstance(node, ast.With):
            _outline_body(node.body, scope, frame, modules)


def _outline_class(
    node: ast.ClassDef,
    scope: ModuleScope,
    frame: Frame,
    modules: Modules,
) -> None:
    qualified = f"{frame.scope}.{node.name}".lstrip(".")
    cls = ProjectClass(node, scope, qualified)
    cls.defer_bases(lambda: modules.bases_of(cls, frame))
    inner = Frame(frame, qualified, cls=cls)
    _outline_body(node.body, scope, inner, modules)
    cls.body = {**inner.imports, **inner.locals}
    frame.bind(node.name, cls)
