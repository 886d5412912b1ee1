"""Which row of the mapping table, and which rules, stand behind a line, and what they write."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrate.errors import RequestError
from migrate.parity.judge import emitted, source_files
from migrate.parity.workers.structure import ModuleInfo, Place

_MOST = 4


@dataclass(frozen=True)
class Origin:
    """The rows behind a place, the code they write, and whether that code is what is there."""

    row: str = ""
    emitted: str = ""
    as_ported: bool = False

    @property
    def sentence(self) -> str:
        said = [self.row] if self.row else []
        if self.as_ported:
            said.append("The line is as ms-migrate writes it, so the row is at fault: report it.")
        elif self.emitted:
            said.append(f"ms-migrate writes here: `{self.emitted}`.")
        return " ".join(said)


def of_layer(ours: ModuleInfo, theirs: ModuleInfo | None) -> Origin:
    """For a layer of torch's own; nothing for a class of the user's."""
    if not ours.module.startswith("torch."):
        return Origin()
    row = rows([f"torch.nn.{ours.type}"])
    if ours.created is None:
        return Origin(row)
    written = emitted.line(ours.created)
    if written is None:
        return Origin(row)
    there = emitted.call_at(theirs.created) if theirs is not None and theirs.created else None
    return Origin(row, _short(written), there is not None and emitted.same(written, there))


def of_code(first: Place | None, last: Place | None, construct: Place | None) -> Origin:
    """For lines of a forward: the rows of the torch names on them."""
    if first is None:
        return Origin()
    same_file = last is not None and last.file == first.file and last.line >= first.line
    end = last.line if last is not None and same_file else emitted.function_end(first)
    row = rows(emitted.apis(first, end))
    known = _dumps(construct)
    new = [s for s in emitted.statements(first, end) if ast.dump(s) not in known]
    return Origin(row, "; ".join(_short(statement) for statement in new[:_MOST]))


def of_function(ours: Place, theirs: Place | None) -> Origin:
    """For a loss or an optimizer of the user's own."""
    return of_code(ours, None, theirs)


def rows(names: list[str]) -> str:
    """One sentence for each name's row."""
    from migrate.table import Table, TableError

    said = []
    try:
        table = Table()
        for name in names[:_MOST]:
            entry = table.get(name)
            if entry is None:
                said.append(f"The table has no row for {name}.")
                continue
            rules = f", rules {', '.join(entry.main.rules)}" if entry.main.rules else ""
            note = f": {entry.note.rstrip('.')}" if entry.note else ""
            said.append(f"Table row {name} ({entry.target or entry.status}{rules}){note}.")
    except (TableError, RequestError, OSError):
        return ""  # a damaged or absent table must not hide what was measured
    return " ".join(said)


def _dumps(construct: Place | None) -> set[str]:
    """Every statement of the function at a place, for comparison."""
    if construct is None:
        return set()
    end = emitted.function_end(construct)
    try:
        tree = ast.parse(source_files.read(construct.file))
    except (OSError, ValueError, SyntaxError):
        return set()
    return {
        ast.dump(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and construct.line <= node.lineno <= end
    }


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 160 else f"{text[:157]}..."
