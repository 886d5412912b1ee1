"""Helpers for `--target mint`: blocks that are made of layers must be made of mint's.

A block such as Conv2dNormActivation is written over layers with torch's own signatures. Ported code
tests for `mint.nn.Conv2d`, so a classic convolution inside the block would be passed over without a
word. The layers' helpers are therefore exchanged for mint's, from the same rows.
"""

from __future__ import annotations

from dataclasses import replace

from migrate.pipeline.refusal import Refusal
from migrate.rewrite.calls.signature_cells import signature_source
from migrate.syntax.import_planner import ImportPlanner
from migrate.table import Entry, Table
from migrate.table.helper_pieces import Definition, HelperIndex
from migrate.table.mint import in_mint, takes_torch_arguments


def over_mint(index: HelperIndex, names: list[str], table: Table) -> HelperIndex:
    """The index with every layer that the named helpers need, and mint has, taken from mint."""
    changed = dict(index.definitions)
    for definition in index.closure(names):
        entry = table.get(f"torch.nn.{definition.name}") if definition.is_class else None
        if entry is not None and entry.main.mint and len(entry.overloads) == 1:
            made = _from_mint(definition, entry)
            if made is not None:
                changed[definition.name] = made
    return HelperIndex(changed)


def _from_mint(definition: Definition, entry: Entry) -> Definition | None:
    form = in_mint(entry.main)
    if takes_torch_arguments(form):
        spelling = ImportPlanner(taken=frozenset())
        source = f"{definition.name} = {spelling.name(form.mindspore)}"
        imports = tuple(spelling.imports)
    else:
        try:
            lines = signature_source(
                replace(entry, overloads=(form,)), definition.name, derive=True
            )[0].splitlines()
        except Refusal:
            return None
        imports = tuple(line for line in lines if line.startswith(("import ", "from ")))
        source = "\n".join(line for line in lines if line not in imports)
    return replace(definition, source=source, imports=imports, needs=(), first=())
