"""Port a notebook cell by cell: its code as one text, so that names carry from cell to cell, then
each part back into its cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from migrate.analyze.coverage import Coverage
from migrate.findings import make_finding
from migrate.port.file import PortedFile
from migrate.project import ReadProblem, SourceFile
from migrate.project.notebook import cell_source, notebook_cells, read_document
from migrate.project.text import read_bytes

_SEAM = "# ms-migrate: cell"  # and a word that the notebook does not hold, and the cell's number
# Magics stand as statements without effect while the text is Python.
_MAGIC = re.compile(r"^(\s*)pass  # ([%!?].*|[\w.]+\?{1,2}\s*)$", re.MULTILINE)
_ASSIGNED = re.compile(r"^(\s*[\w., ]+=\s*)None  # ([%!].*)$", re.MULTILINE)
_LINE_END = re.compile(r"\r\n|\r|\n")
_NUMBER = "ms-migrate number"  # in front of a number as it is written
_SURROGATE = re.compile("[\ud800-\udfff]")
_OWN_MAGIC = re.compile(r"\s*(?:[\w., ]+=\s*)?([%!?].*|[\w.]+\?{1,2}\s*)$")
_CELL_MAGIC = re.compile(r"\A(\s*)# (%%)")


def port_notebook(source: SourceFile, port: Callable[[str], PortedFile]) -> PortedFile:
    """The ported notebook; `port` takes and gives the code of all cells as one text."""
    try:
        lines = source.read().split("\n")
    except ReadProblem as problem:
        return PortedFile(source, "", problem=problem.finding)
    document = read_bytes(source.path).decode("utf-8-sig")
    seam = _unused(_SEAM, document)
    before = _with_seams(lines, source.cells, seam)
    ported = port(before)
    ported.findings = [_placed(finding, before, source, seam) for finding in ported.findings]
    ported.coverage.assumptions = [
        _placed(assumption, before, source, seam) for assumption in ported.coverage.assumptions
    ]
    if ported.problem is not None or not ported.changed:
        return replace(ported, text=document, changed=False)
    old, new = _cells_of(before, seam), _cells_of(ported.text, seam)
    changed = {number: new[number] for number in new if new[number] != old.get(number)}
    wrong = ""
    if list(old) != list(new):
        wrong = "code would move from one cell to another"
    elif _holds_look_alikes(document, changed, source.path):
        wrong = "a comment looks like one of its magics"
    if wrong:
        reason = f"could not be rewritten safely: {wrong}"
        left = Coverage(ported.coverage.uses)
        finding = make_finding("MS312", source.path, reason, "report this file; it was left as is")
        return replace(ported, text=document, changed=False, findings=[finding], coverage=left)
    return replace(ported, text=_with_sources(document, changed, source.path))


def _unused(words: str, document: str) -> str:
    """The words, or more of them: what the notebook does not hold already."""
    number, found = 0, f"{words} "
    while found in document:
        number += 1
        found = f"{words}-{number} "
    return found


def _with_seams(lines: list[str], cells: list[tuple[int, int]], seam: str) -> str:
    """A comment in front of every cell, which the porter keeps in its place."""
    starts = dict(cells)
    marked: list[str] = []
    for number, line in enumerate(lines, start=1):
        if number in starts:
            marked.append(f"{seam}{starts[number]}")
        marked.append(line)
    return "\n".join(marked)


def _cells_of(text: str, seam: str) -> dict[int, str]:
    """The text of each cell by its number, in the order of the text."""
    _, *parts = re.split(rf"^{seam}(\d+)\n", text, flags=re.MULTILINE)
    return dict(zip(map(int, parts[::2]), (part.strip("\n") for part in parts[1::2]), strict=True))


def _placed(finding: Any, marked: str, source: SourceFile, seam: str) -> Any:
    """The finding by cell and line, the seams not counted."""
    above = marked.split("\n")[: finding.line]
    seams = sum(line.startswith(seam) for line in above)
    return source.placed(replace(finding, line=finding.line - seams)) if finding.line else finding


def _with_sources(document: str, changed: dict[int, str], path: Path) -> str:
    """The notebook with other code in some cells; what they had printed was torch's."""
    mark = _unused(_NUMBER, document)
    notebook = read_document(document.encode(), path, mark)
    form = _form(document, notebook, mark)
    cells = notebook_cells(notebook) or []
    for number, text in changed.items():
        cell = cells[number - 1]
        key = "source" if "source" in cell else "input"
        code = _with_magics(text, cell_source(cell))
        cell[key] = code.splitlines(keepends=True) if isinstance(cell.get(key), list) else code
        cell["outputs"] = []
        cell["execution_count" if "source" in cell else "prompt_number"] = None
    return form(notebook)


def _form(document: str, notebook: Any, number: str) -> Callable[[Any], str]:
    """The way the document is written, found by writing it: what is not edited stays as it was."""
    end = document[len(document.rstrip()) :]
    for indent in (1, 2, 4, None, 0, "\t"):
        for ascii_only in (False, True):
            for separators in (None, (",", ":")):
                write = partial(
                    _written,
                    number=number,
                    indent=indent,
                    ascii_only=ascii_only,
                    separators=separators,
                    end=end,
                )
                if write(notebook) == document:
                    return write
    return partial(_written, number=number, indent=1, ascii_only=False, separators=None, end="\n")


def _written(
    notebook: Any,
    *,
    number: str,
    indent: int | str | None,
    ascii_only: bool,
    separators: tuple[str, str] | None,
    end: str,
) -> str:
    text = json.dumps(notebook, indent=indent, ensure_ascii=ascii_only, separators=separators)
    text = re.sub(f'"{number}([^"]*)"', r"\1", text)
    # A half of a pair of surrogates can stand in JSON only as an escape.
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + end


def _with_magics(text: str, original: str) -> str:
    """The magics of the cell as they were; a comment of its author stays one (`pass  # %s`)."""
    if original.lstrip().startswith("%%"):
        text = _CELL_MAGIC.sub(r"\1\2", text)
    magics = _magics(original)
    for pattern in (_MAGIC, _ASSIGNED):
        text = pattern.sub(lambda m: m[1] + m[2] if m[2].strip() in magics else m[0], text)
    return text


def _magics(original: str) -> set[str]:
    """The magics of a cell, without what they are assigned to."""
    lines = [line for line in _LINE_END.split(original) if not _looks_like_magic(line)]
    found = (_OWN_MAGIC.match(line) for line in lines)
    return {match[1].strip() for match in found if match}


def _looks_like_magic(line: str) -> re.Match[str] | None:
    """A line of the author's that reads as one that stands for a magic."""
    return _MAGIC.match(line) or _ASSIGNED.match(line)


def _holds_look_alikes(document: str, changed: Iterable[int], path: Path) -> bool:
    cells = notebook_cells(read_document(document.encode(), path)) or []
    for number in changed:
        original = cell_source(cells[number - 1])
        lines = map(_looks_like_magic, _LINE_END.split(original))
        if {match[2].strip() for match in lines if match} & _magics(original):
            return True
    return False
