"""What import statements bind, across the files of the program."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.project import SourceFile
from migrate.resolve.frames import Frame
from migrate.resolve.values import UNKNOWN, External, ProjectModule, Value, external
from migrate.syntax.import_planner import HELPER_MODULE

if TYPE_CHECKING:
    from migrate.resolve.modules import Modules


class Lazy(Value):
    """A name imported from a project module, not looked up yet."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name


def bind_import(node: ast.Import, frame: Frame, modules: Modules, source: SourceFile) -> None:
    for alias in node.names:
        if alias.asname:
            frame.bind_import(alias.asname, modules.reference(alias.name, source))
        else:
            head = alias.name.partition(".")[0]
            frame.bind_import(head, modules.reference(head, source))


def bind_import_from(
    node: ast.ImportFrom, frame: Frame, modules: Modules, source: SourceFile
) -> list[tuple[str, Value]]:
    """Bind the names; gives them back for a star import, whose names the source does not spell."""
    name = absolute_name(node, source)
    star: list[tuple[str, Value]] = []
    for alias in node.names:
        if alias.name == "*":
            star = star_names(name, modules, source)
            for bound, value in star:
                frame.bind_import(bound, value)
            continue
        bound = alias.asname or alias.name
        frame.bind_import(bound, imported(name, alias.name, modules, source))
    return star


def imported(module: str, name: str, modules: Modules, source: SourceFile) -> Value:
    """What `from module import name` gives."""
    full = f"{module}.{name}" if module else name
    if name == HELPER_MODULE:
        return external(name)
    if modules.is_asked(full):
        return ProjectModule(full)
    parent = modules.reference(module, source) if module else UNKNOWN
    if isinstance(parent, External):
        return external(full)
    return Lazy(module, name)


def absolute_name(node: ast.ImportFrom, source: SourceFile) -> str:
    """The module of a from-import, relative dots resolved."""
    if not node.level:
        return node.module or ""
    parts = source.package.split(".") if source.package else []
    climbed = parts[: len(parts) - (node.level - 1)]
    return ".".join([*climbed, *([node.module] if node.module else [])])


def star_names(
    module: str, modules: Modules, source: SourceFile, seen: frozenset[str] = frozenset()
) -> list[tuple[str, Value]]:
    """All names a star import binds: a library's rows, or a project module's public names."""
    parent = modules.reference(module, source)
    if isinstance(parent, External):
        rows = modules.table.children(module)
        names = {name.rpartition(".")[2] for name in rows}
        return [
            (name, external(f"{module}.{name}"))
            for name in sorted(names)
            if not name.startswith("_")
        ]
    scope = modules.load(module, source)
    if scope is None or module in seen:
        return []
    public = scope.public
    bound = list(public.defined if public.declared is None else public.declared)
    for star in public.stars:  # a package that star-imports its modules passes their names on
        statement = star.statement()
        assert isinstance(statement, ast.ImportFrom)
        name = absolute_name(statement, scope.source)
        bound += [inner for inner, _ in star_names(name, modules, scope.source, seen | {module})]
    return [(name, Lazy(module, name)) for name in dict.fromkeys(bound)]
