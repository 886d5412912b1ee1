"""A light look at a module that is only imported: what it binds, with every value left until it
is asked for.
"""

from __future__ import annotations

import ast

from migrate.resolve.frames import Frame
from migrate.resolve.import_binding import bind_import, bind_import_from
from migrate.resolve.module_index import Definition, Imported, bindings_of
from migrate.resolve.module_scope import Deferred, ModuleScope
from migrate.resolve.modules import Modules
from migrate.resolve.values import ProjectClass, ProjectFunction, Value


def outline(scope: ModuleScope, modules: Modules) -> None:
    """Bind the module's names.

    Following its own imports and expressions is left to whoever needs them.
    """
    frame = scope.frame
    for number, binding in enumerate(scope.index.bindings):
        if isinstance(binding, Imported):
            _import(binding, scope, frame, modules)
            continue
        for name in binding.names:
            frame.bind(name, Deferred(scope, frame, number=number))


def defined(node: Definition, scope: ModuleScope, frame: Frame, modules: Modules) -> Value:
    """The function or class that a definition makes."""
    qualified = f"{frame.scope}.{node.name}".lstrip(".")
    if not isinstance(node, ast.ClassDef):
        return ProjectFunction(node, scope, frame, qualified, frame.cls)
    cls = ProjectClass(node, scope, qualified)
    cls.defer_bases(lambda: modules.bases_of(cls, frame))
    inner = Frame(frame, qualified, cls=cls)
    for binding, part in bindings_of(node.body):
        if isinstance(binding, Imported):
            _import(binding, scope, inner, modules)
        elif isinstance(part, Definition):
            inner.bind(part.name, defined(part, scope, inner, modules))
        else:
            assert isinstance(part, ast.expr)
            for name in binding.names:
                inner.bind(name, Deferred(scope, inner, node=part))
    cls.body = {**inner.imports, **inner.locals}
    return cls


def _import(binding: Imported, scope: ModuleScope, frame: Frame, modules: Modules) -> None:
    statement = binding.statement()
    if isinstance(statement, ast.Import):
        bind_import(statement, frame, modules, scope.source)
    else:
        bind_import_from(statement, frame, modules, scope.source)
