"""Find the line of the PyTorch program that a line of the ported one comes from.

The original is ported again in memory, and the statement is followed back through both trees by
what it defines or assigns to. The result is used only if the ported file is what `port` writes
there; a file that was edited since is followed as far as its own text allows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from migrate.parity.judge import emitted
from migrate.preflight.result import Place, Report


def originals_of(report: Report, original: str | None) -> dict[Place, Place]:
    """For every place in the report's findings and kernels, where the original is known."""
    if not original:
        return {}
    places = {place for run in report.runs for finding in run.findings for place in finding.places}
    places |= {line.place for run in report.runs for line in run.by_line}
    found: dict[Place, Place] = {}
    for place in places:
        source = _source_of(Path(place.file), Path(original))
        if source is not None:
            line = original_line(Path(place.file), source, place.line)
            if line:
                found[place] = Place(str(source), line)
    return found


def _source_of(ported: Path, original: Path) -> Path | None:
    """The file of the original with the longest common end of the path."""
    if original.is_file():
        return original if original.name == ported.name else None
    candidates = [path for path in original.rglob(ported.name) if path.is_file()]
    return max(candidates, key=lambda path: _common(path.parts, ported.parts), default=None)


def _common(ours: tuple[str, ...], theirs: tuple[str, ...]) -> int:
    count = 0
    for one, other in zip(reversed(ours), reversed(theirs), strict=False):
        if one != other:
            break
        count += 1
    return count


def original_line(ported: Path, source: Path, line: int) -> int:
    """The original's line for a line of the ported file; 0 if nothing there corresponds."""
    after, before = _tree(ported), _tree(source)
    if after is None or before is None:
        return 0
    found = 0
    ours: list[ast.stmt] = after.body
    theirs: list[ast.stmt] = before.body
    while True:
        inner = next((node for node in ours if _spans(node, line)), None)
        if inner is None:
            return found
        match = emitted.counterpart(ours, ours.index(inner), theirs)
        if match is None:
            return found
        found = match.lineno + _offset(inner, match, line)
        ours, theirs = list(_bodies(inner)), list(_bodies(match))


@cache
def _tree(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return None


def _spans(node: ast.stmt, line: int) -> bool:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return first <= line <= (node.end_lineno or node.lineno)


def _offset(ours: ast.stmt, theirs: ast.stmt, line: int) -> int:
    """Within statements of several lines that have the same layout, the same line."""
    if isinstance(ours, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return 0
    if any(True for _ in _bodies(ours)):
        return 0
    height = (ours.end_lineno or ours.lineno) - ours.lineno
    other = (theirs.end_lineno or theirs.lineno) - theirs.lineno
    return line - ours.lineno if height == other else 0


def _bodies(node: ast.stmt) -> Iterator[ast.stmt]:
    for name in ("body", "orelse", "finalbody"):
        inner: Iterable[ast.stmt] = getattr(node, name, [])
        yield from inner
