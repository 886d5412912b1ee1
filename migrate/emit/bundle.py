"""The helper module of a port: one self-contained file with only the pieces in use."""

from __future__ import annotations

import ast

from migrate.emit.mint_layers import over_mint
from migrate.rewrite.names.imports import import_lines
from migrate.table import Table
from migrate.table.helper_pieces import helper_index

HEADER = (
    '"""Pieces with torch\'s signatures and semantics that the ported code uses. '
    'Made by ms-migrate; yours to edit."""'
)


def helper_module(names: list[str], generated: dict[str, str], mint: Table | None = None) -> str:
    """The text of ms_migrate_helpers.py for these names, what they need, and what was made from
    rows; over mint's layers where a table for mint is given.
    """
    index = helper_index()
    made = {name: text for name, text in generated.items() if name not in index}
    wanted = [name for name in names if name not in made]
    needed = [word for text in made.values() for word in _words(text) if word in index]
    if mint is not None:
        index = over_mint(index, [*wanted, *needed], mint)
    definitions = index.closure([*wanted, *needed])
    imports: dict[str, None] = {}
    for definition in definitions:
        imports |= dict.fromkeys(definition.imports)
    bodies: list[str] = [definition.source for definition in definitions]
    for text in _in_order(made):
        lines = text.splitlines()
        imports |= dict.fromkeys(line for line in lines if line.startswith(("import ", "from ")))
        bodies.append(
            "\n".join(line for line in lines if not line.startswith(("import ", "from ")))
        )
    return "\n\n\n".join(["\n".join([HEADER, "", *import_lines(imports, set())]), *bodies]) + "\n"


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
