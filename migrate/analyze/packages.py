"""Packages that are built on torch: a program's own files port, what it borrows there does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.analyze.model import Sign
from migrate.analyze.places import Placer
from migrate.project import SourceFile
from migrate.resolve.foreign import foreign_imports
from migrate.resolve.modules import Modules


def find(tree: ast.Module, source: SourceFile, modules: Modules, placer: Placer) -> Iterator[Sign]:
    """One sign for each import."""
    imports = placer.nodes(tree, (ast.Import, ast.ImportFrom))
    for foreign in foreign_imports(imports, source, modules):
        name, place = foreign.package.name, placer.at(foreign.statement)
        yield Sign("package", name, place, "MS315", foreign.message, foreign.package.way, "error")
