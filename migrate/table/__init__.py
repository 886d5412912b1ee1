"""The API table: what MindSpore has for each torch API, as facts in mappings/*.toml."""

from migrate.table.entry import Entry, Overload
from migrate.table.load import Table, TableError

__all__ = ["Entry", "Overload", "Table", "TableError"]
