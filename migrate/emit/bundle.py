"""The helper module of a port: one self-contained file with only the pieces in use."""

from __future__ import annotations

import ast
from collections.abc import Collection

from migrate.emit.lean.reach import lean_pieces
from migrate.emit.mint_layers import over_mint
from migrate.emit.runtime_package import names_imported
from migrate.emit.spacing import spaced
from migrate.rewrite.names.imports import import_lines
from migrate.table import Table
from migrate.table.helper_pieces import Definition, helper_index

_CLASS_QUESTIONS = "modules_classes"  # these look through the classes of their module
HEADER = (
    '"""Pieces with torch\'s signatures and semantics that the ported code uses. '
    'Made by ms-migrate; yours to edit."""'
)


def _without_imports(text: str) -> tuple[list[str], str]:
    """The import lines of a text, and the rest of it."""
    lines = text.splitlines()
    imports = [line for line in lines if line.startswith(("import ", "from "))]
    return imports, "\n".join(line for line in lines if line not in imports)


def helper_module(
    names: list[str],
    generated: dict[str, str],
    mint: Table | None = None,
    *,
    package: bool = False,
    users: list[str] | None = None,
    modules: Collection[str] = (),
    excluded: Collection[str] = (),
) -> str:
    """The text of ms_migrate_helpers.py for these names, what they need, and what was made from
    rows; over mint's layers where a table for mint is given. With `package` the pieces come from
    ms_migrate_runtime. With the texts of its `users` and the files around them, which are
    importable as `modules`, it has only what they ask for; facts that the source of the program
    excludes do not hold.
    """
    index = helper_index()
    made = {name: text for name, text in generated.items() if name not in index}
    wanted = [name for name in names if name not in made]
    needed = [word for text in made.values() for word in _words(text) if word in index]
    if mint is not None:
        index = over_mint(index, [*wanted, *needed], mint)
    if users is None or package:
        definitions = index.closure([*wanted, *needed])
    else:
        definitions = lean_pieces(
            index, [*wanted, *needed], made.values(), users, modules, excluded
        )
    taken: list[str] = []
    if package:
        definitions, taken = _shared_out(definitions, {*wanted, *needed})
    imports: dict[str, None] = {}
    for definition in definitions:
        imports |= dict.fromkeys(definition.imports)
    bodies: list[str] = [definition.source for definition in definitions]
    for text in _in_order(made):
        needed_imports, body = _without_imports(text)
        imports |= dict.fromkeys(needed_imports)
        bodies.append(body)
    head = [HEADER, "", *import_lines(imports, set())]
    if package:
        head += names_imported(taken)
    return spaced(["\n".join(head), *bodies]) + "\n"


def _shared_out(
    definitions: list[Definition], named: set[str]
) -> tuple[list[Definition], list[str]]:
    """Definitions that stay beside a port which takes the others from the package, and the names
    that it imports: all classes where one of its own questions is about them.
    """
    own = [one for one in definitions if one.file == _CLASS_QUESTIONS]
    needs = {need for one in own for need in one.needs}
    taken = [
        one.name
        for one in definitions
        if one not in own and (one.name in named | needs or (own and one.is_class))
    ]
    return own, taken


def _words(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def _in_order(made: dict[str, str]) -> list[str]:
    """Generated pieces sorted by name, each after those it uses."""
    ordered: dict[str, str] = {}

    def place(name: str) -> None:
        if name in ordered:
            return
        for other in sorted(_words(made[name]) & set(made) - {name}):
            if other not in ordered:
                place(other)
        ordered[name] = made[name]

    for name in sorted(made):
        place(name)
    return list(ordered.values())
