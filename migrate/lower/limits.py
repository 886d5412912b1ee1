"""The limits of Graph mode, as mappings/graph_limits.toml states them; `analyze` and `port` read
the same rows.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache

from migrate.resources import folder

FILE = "graph_limits.toml"
EFFECTS = ("loud", "silent")
TREATMENTS = ("lower", "rewrite", "pynative")


@dataclass(frozen=True, slots=True)
class Limit:
    """One construct; the fields are those of the row."""

    name: str
    construct: str
    code: str
    effect: str
    port: str
    by: str = ""  # the pass that writes it in another form
    message: str = ""
    step: str = ""
    syntax: tuple[str, ...] = ()
    head: str = ""
    init: str = ""
    methods: str = ""
    before: str = ""
    after: str = ""
    between: str = ""
    calls: int = 1


@cache
def limits() -> dict[str, Limit]:
    """All rows by name."""
    import tomllib

    document = tomllib.loads((folder("mappings") / FILE).read_text(encoding="utf-8"))
    rows = [Limit(**{**row, "syntax": tuple(row.get("syntax", ()))}) for row in document["limit"]]
    return {row.name: row for row in rows}


@cache
def by_syntax() -> dict[type[ast.AST], Limit]:
    """The limits that a kind of node shows by itself."""
    return {getattr(ast, kind): row for row in limits().values() for kind in row.syntax}
