"""Which row of the mapping table, and which rules, stand behind a line, and what they write."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from migrate.errors import RequestError
from migrate.parity.judge import emitted, source_files
from migrate.parity.workers.statements import Statement
from migrate.parity.workers.structure import ModuleInfo, Place
from migrate.syntax.import_planner import HELPER_MODULE

_MOST = 4
# What a port imports, by the names it uses.
_IMPORTS = {
    "helpers": f"import {HELPER_MODULE} as helpers",
    "mindspore": "import mindspore",
    "nn": "from mindspore import nn",
    "ops": "from mindspore import ops",
}
REPORT = "The line is what ms-migrate writes for it: please report this as a fault of the table."


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
            said.append(REPORT)
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
    place = theirs.created if theirs is not None else None
    there = emitted.call_at(place) if place is not None else None
    if there is not None and emitted.same(written, there):
        return Origin(row, _short(written), True)
    return Origin(row, _short(written) if place is None else _advice([written], place))


def of_code(first: Place | None, last: Place | None, construct: Place | None) -> Origin:
    """For lines of a forward: the rows of the torch names on them."""
    if first is None:
        return Origin()
    same_file = last is not None and last.file == first.file and last.line >= first.line
    end = last.line if last is not None and same_file else emitted.function_end(first)
    row = rows(emitted.apis(first, end))
    known = _dumps(construct)
    new = [s for s in emitted.statements(first, end) if ast.dump(s) not in known]
    if construct is not None:
        return Origin(row, _advice(new[:_MOST], construct))
    return Origin(row, "; ".join(_short(statement) for statement in new[:_MOST]))


def of_statement(ours: Statement, theirs: Statement | None) -> Origin:
    """For one statement: its rows, and what replaces MindSpore's, if that can stand there."""
    row = rows(emitted.apis(Place(ours.file, ours.line), ours.end))
    written = emitted.statements(Place(ours.file, ours.line), ours.end)
    if len(written) != 1 or theirs is None:
        return Origin(row)
    place = Place(theirs.file, theirs.line)
    there = emitted.statement_at(place)
    if there is None or not emitted.replaces(written[0], there):
        return Origin(row)
    if emitted.same(written[0], there):
        return Origin(row, _short(written[0]), True)
    return Origin(row, _advice(written, place))


def _advice(written: Sequence[ast.AST], place: Place) -> str:
    """Code for a place, with the imports that it needs there; nothing where it cannot stand, since
    a port by hand has other names.
    """
    needs: set[str] = set()
    for node in written:
        lacking = emitted.lacking(node, place)
        if lacking is None or not lacking <= set(_IMPORTS):
            return ""
        needs |= lacking
    code = "; ".join(_short(node) for node in written)
    imports = "; ".join(_IMPORTS[name] for name in sorted(needs))
    return f"{code}  # needs: {imports}" if imports and code else code


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
            target = entry.written_target or entry.status
            said.append(f"Table row {name} ({target}{rules}){note}.")
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
