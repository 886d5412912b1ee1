"""A Jupyter notebook as one Python text: code cells in order, magics turned into comments."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings
from pathlib import Path
from typing import Any

from migrate.findings import make_finding
from migrate.project.text import ReadProblem

# Magics that take the rest of the cell as Python; any other %%magic takes it as something else.
_PYTHON_CELL_MAGICS = frozenset({"time", "timeit", "capture", "prun", "python", "python3"})
_LINE_END = re.compile(r"\r\n|\r|\n")  # and no form feeds, which a string may hold
_LINE_MAGIC = re.compile(r"(\s*)([%!?].*|[\w.]+\?{1,2}\s*)$", re.DOTALL)
_ASSIGNED_MAGIC = re.compile(r"(\s*[\w., ]+=\s*)([%!].*)$", re.DOTALL)


def read_document(data: bytes, path: Path, number: str = "") -> dict[str, Any]:
    """A notebook's JSON; refuses what is none, and what Jupyter itself would not open. With a word
    for it, each number is that word and the number as it is written (`1E2`, `0.10`).
    """
    kinds = ("parse_float", "parse_int", "parse_constant") if number else ()
    options: dict[str, Any] = dict.fromkeys(kinds, lambda text: f"{number}{text}")
    try:
        document = json.loads(data.decode("utf-8-sig"), **options)
    except UnicodeDecodeError:
        raise ReadProblem(
            make_finding("MS207", path, "is a notebook that is not UTF-8", "save it as UTF-8")
        ) from None
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not isinstance(notebook_cells(document), list):
        raise ReadProblem(
            make_finding("MS207", path, "is not a Jupyter notebook", "open and save it in Jupyter")
        )
    return document


def notebook_cells(document: dict[str, Any]) -> list[Any] | None:
    """The cells of a notebook, in its own objects; before version 4 they were on worksheets."""
    if "worksheets" not in document or "cells" in document:
        cells = document.get("cells")
        return cells if isinstance(cells, list) else None
    sheets = document["worksheets"]
    if not isinstance(sheets, list) or not sheets:
        return None
    found = [sheet.get("cells") if isinstance(sheet, dict) else None for sheet in sheets]
    if not all(isinstance(cells, list) for cells in found):
        return None
    return [cell for cells in found for cell in cells or []]


def join_cells(data: bytes, path: Path) -> tuple[str, list[tuple[int, int]]]:
    """The text and, for each code cell, the line it starts on and its number in the notebook."""
    document = read_document(data, path)
    language = _language(document)
    if language not in ("", "python", "python3", "ipython"):
        raise ReadProblem(
            make_finding("MS207", path, f"is a notebook in {language}, not in Python")
        )
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    for number, cell in enumerate(notebook_cells(document) or [], start=1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        starts.append((len(lines) + 1, number))
        lines += _python_lines(cell_source(cell))
    return "\n".join(lines) + "\n", starts


def _language(document: dict[str, Any]) -> str:
    for place, name in (("kernelspec", "language"), ("language_info", "name")):
        named: Any = document.get("metadata")
        for key in (place, name):
            named = named.get(key) if isinstance(named, dict) else None
        if named:
            return str(named).lower()
    return ""


def cell_source(cell: dict[str, Any]) -> str:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _python_lines(source: str) -> list[str]:
    lines = _LINE_END.split(source)
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        magic = lines[first][2:].split(maxsplit=1)
        if not magic or magic[0] not in _PYTHON_CELL_MAGICS:
            return ["# " + line for line in lines]
        lines[first] = "# " + lines[first]
    if _parses(lines):
        return lines
    done: list[str] = []
    for line in lines:
        replaced = _without_magic(line)
        # `% b` or `!` may also continue an expression or a string that an earlier line opened.
        done.append(replaced if replaced != line and _complete(done) else line)
    return done


def _without_magic(line: str) -> str:
    """A magic as a statement that does nothing, so that an indented block stays a block."""
    if match := _LINE_MAGIC.match(line):
        return f"{match[1]}pass  # {match[2]}"
    if match := _ASSIGNED_MAGIC.match(line):
        return f"{match[1]}None  # {match[2]}"
    return line


def _parses(lines: list[str]) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _complete(lines: list[str]) -> bool:
    """Whether a new statement may start after these lines: no bracket or string is open."""
    try:
        for _ in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            pass
    except tokenize.TokenError:
        return False
    except (SyntaxError, IndentationError):
        return True
    return not (lines and lines[-1].rstrip().endswith("\\"))
