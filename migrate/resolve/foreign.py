"""Imports of packages that are built on torch: nothing of theirs runs on MindSpore's tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from migrate.project import SourceFile
from migrate.resolve.modules import Modules
from migrate.table.packages import Package


@dataclass(frozen=True, slots=True)
class ForeignImport:
    """One import statement, the package that it brings in, and the names it binds."""

    statement: ast.Import | ast.ImportFrom
    package: Package
    names: tuple[str, ...]

    @property
    def message(self) -> str:
        return f"{self.package.about}; nothing of it works with MindSpore's tensors"


def foreign_imports(
    nodes: Iterable[ast.AST], source: SourceFile, modules: Modules
) -> Iterator[ForeignImport]:
    """In the order of the nodes; what is part of the project, or has rows of its own, is not."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                if package := _package(alias.name, source, modules):
                    yield ForeignImport(node, package, (bound,))
        elif isinstance(node, ast.ImportFrom) and not node.level:
            name = node.module or ""
            found: dict[Package, list[str]] = {}
            for alias in node.names:
                # `from albumentations import pytorch` names a module, too.
                package = _package(f"{name}.{alias.name}", source, modules, parent=name)
                if package and package.concerns(alias.name):
                    found.setdefault(package, []).append(alias.asname or alias.name)
            for package, names in found.items():
                yield ForeignImport(node, package, tuple(names))


def count_uses(foreign: ForeignImport, nodes: Iterable[ast.AST]) -> int:
    """How often the file names what the import binds."""
    names = set(foreign.names)
    return sum(
        isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)
        for node in nodes
    )


def _package(name: str, source: SourceFile, modules: Modules, parent: str = "") -> Package | None:
    if not name or modules.is_library(name) or modules.is_asked(name):
        return None
    package = modules.table.packages.get(name)
    if parent and package and package.name == name and not modules.table.packages.is_listed(name):
        # A member with torch in its name makes no package of its module.
        package = modules.table.packages.get(parent)
    if package is None:
        return None
    return None if modules.project.find(parent or name, source) else package
