"""Packages that are built on torch: a program's own files port, what it borrows there does not.
Nor do modules of torch that it loads by their names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.analyze.model import Sign
from migrate.analyze.places import Placer
from migrate.project import SourceFile
from migrate.resolve.foreign import foreign_imports
from migrate.resolve.module_scope import ModuleScope
from migrate.resolve.modules import Modules
from migrate.resolve.torch_in_text import described, texts_naming_torch


def find(tree: ast.Module, source: SourceFile, modules: Modules, placer: Placer) -> Iterator[Sign]:
    """One sign for each import."""
    imports = placer.nodes(tree, (ast.Import, ast.ImportFrom))
    for foreign in foreign_imports(imports, source, modules):
        name, place = foreign.package.name, placer.at(foreign.statement)
        yield Sign("package", name, place, "MS315", foreign.message, foreign.package.way, "error")


def find_in_text(scope: ModuleScope, modules: Modules, placer: Placer) -> Iterator[Sign]:
    """One sign for each text that is run, or that a module is loaded by."""
    for node, how, named in texts_naming_torch(scope, modules.table.roots):
        message, step = described(how, named)
        what = "text that names torch is run" if how == "run" else "torch loaded by its name"
        yield Sign("text", what, placer.at(node), "MS317", message, step, "warning")
