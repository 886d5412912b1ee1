"""Which row of the mapping table, and which rules, stand behind a layer of a ported model."""

from __future__ import annotations

from migrate.errors import RequestError
from migrate.parity.structure import ModuleInfo


def table_row(layer: ModuleInfo) -> str:
    """One sentence on the row for a layer of torch's own; empty for a class of the user's."""
    if layer.forward is None or "/torch/nn/" not in layer.forward.file.replace("\\", "/"):
        return ""
    from migrate.table import Table, TableError

    name = f"torch.nn.{layer.type}"
    try:
        entry = Table().get(name)
    except (TableError, RequestError, OSError):
        return ""  # a damaged or absent table must not hide what was measured
    if entry is None:
        return f"The table has no row for {name}."
    rules = f", rules {', '.join(entry.main.rules)}" if entry.main.rules else ""
    note = f": {entry.note}" if entry.note else ""
    return f"Table row {name} ({entry.target or entry.status}{rules}){note.rstrip('.')}."
