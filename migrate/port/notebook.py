"""Port a notebook cell by cell: its code as one text, so that names carry from cell to cell, then
each part back into its cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from migrate.analyze.coverage import Coverage
from migrate.findings import make_finding
from migrate.port.file import PortedFile
from migrate.project import ReadProblem, SourceFile
from migrate.project.notebook import notebook_cells, read_document
from migrate.project.text import read_bytes

_SEAM = "# ms-migrate: cell {}"
_SEAMS = re.compile(r"^# ms-migrate: cell (\d+)\n", re.MULTILINE)
# Magics stand as statements without effect while the text is Python.
_MAGIC = re.compile(r"^(\s*)pass  # ([%!?].*|[\w.]+\?{1,2}\s*)$", re.MULTILINE)
_ASSIGNED = re.compile(r"^(\s*[\w., ]+=\s*)None  # ([%!].*)$", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CELL_MAGIC = re.compile(r"\A(\s*)# (%%)")


def port_notebook(source: SourceFile, port: Callable[[str], PortedFile]) -> PortedFile:
    """The ported notebook; `port` takes and gives the code of all cells as one text."""
    try:
        lines = source.read().split("\n")
    except ReadProblem as problem:
        return PortedFile(source, "", problem=problem.finding)
    document = read_bytes(source.path).decode("utf-8-sig")
    before = _with_seams(lines, source.cells)
    ported = port(before)
    ported.findings = [_placed(finding, before, source) for finding in ported.findings]
    ported.coverage.assumptions = [
        _placed(assumption, before, source) for assumption in ported.coverage.assumptions
    ]
    if ported.problem is not None or not ported.changed:
        return replace(ported, text=document, changed=False)
    old, new = _cells_of(before), _cells_of(ported.text)
    if list(old) != list(new):
        reason = "could not be rewritten safely: code would move from one cell to another"
        left = Coverage(ported.coverage.uses)
        finding = make_finding("MS312", source.path, reason, "report this file; it was left as is")
        return replace(ported, text=document, changed=False, findings=[finding], coverage=left)
    changed = {number: new[number] for number in new if new[number] != old[number]}
    return replace(ported, text=_with_sources(document, changed, source.path))


def _with_seams(lines: list[str], cells: list[tuple[int, int]]) -> str:
    """A comment in front of every cell, which the porter keeps in its place."""
    starts = dict(cells)
    marked: list[str] = []
    for number, line in enumerate(lines, start=1):
        if number in starts:
            marked.append(_SEAM.format(starts[number]))
        marked.append(line)
    return "\n".join(marked)


def _cells_of(text: str) -> dict[int, str]:
    """The text of each cell by its number, in the order of the text."""
    _, *parts = _SEAMS.split(text)
    return dict(zip(map(int, parts[::2]), (part.strip("\n") for part in parts[1::2]), strict=True))


def _placed(finding: Any, marked: str, source: SourceFile) -> Any:
    """The finding by cell and line, the seams not counted."""
    above = marked.split("\n")[: finding.line]
    seams = sum(bool(_SEAMS.match(f"{line}\n")) for line in above)
    return source.placed(replace(finding, line=finding.line - seams)) if finding.line else finding


def _with_sources(document: str, changed: dict[int, str], path: Path) -> str:
    """The notebook with other code in some cells; what they had printed was torch's."""
    notebook = read_document(document.encode(), path)
    form = _form(document, notebook)
    cells = notebook_cells(notebook) or []
    for number, text in changed.items():
        cell = cells[number - 1]
        key = "source" if "source" in cell else "input"
        code = _with_magics(text)
        cell[key] = code.splitlines(keepends=True) if isinstance(cell.get(key), list) else code
        cell["outputs"] = []
        cell["execution_count" if "source" in cell else "prompt_number"] = None
    return form(notebook)


def _form(document: str, notebook: Any) -> Callable[[Any], str]:
    """The way the document is written, found by writing it: what is not edited stays as it was."""
    end = document[len(document.rstrip()) :]
    for indent in (1, 2, 4, None, 0, "\t"):
        for ascii_only in (False, True):
            for separators in (None, (",", ":")):
                write = partial(
                    _written, indent=indent, ascii_only=ascii_only, separators=separators, end=end
                )
                if write(notebook) == document:
                    return write
    return partial(_written, indent=1, ascii_only=False, separators=None, end="\n")


def _written(
    notebook: Any,
    *,
    indent: int | str | None,
    ascii_only: bool,
    separators: tuple[str, str] | None,
    end: str,
) -> str:
    text = json.dumps(notebook, indent=indent, ensure_ascii=ascii_only, separators=separators)
    # A half of a pair of surrogates can stand in JSON only as an escape.
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + end


def _with_magics(text: str) -> str:
    text = _CELL_MAGIC.sub(r"\1\2", text)
    return _ASSIGNED.sub(r"\1\2", _MAGIC.sub(r"\1\2", text))
