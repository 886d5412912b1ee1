"""The source of a file as the passes over programs leave it: functions written out at their calls,
and MindSpore's own style, where that was asked for and is possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from migrate.findings import Finding
from migrate.pipeline import Pass
from migrate.pipeline.context import Context
from migrate.resolve import FileResolution, Resolver
from migrate.syntax.edits import SourceText, apply_edits
from migrate.syntax.import_planner import ImportPlanner
from migrate.table.helper_pieces import helper_index

_WRITTEN = ("__mindspore__", "__helpers__")  # what names of MindSpore stand below


@dataclass(slots=True)
class Restyled:
    """The text, the line of the source that each of its lines came from, and what was said."""

    text: str
    lines: list[int] = field(default_factory=list)  # empty where nothing changed
    notes: list[tuple[int, str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    assumptions: list[tuple[int, str, str]] = field(default_factory=list)  # line, what, check

    def all_assumptions(
        self, later: Iterable[tuple[int, str, str]], source_line: Callable[[int], int]
    ) -> list[tuple[int, str, str]]:
        """With those of the later passes, whose lines are those of the lowered text."""
        return self.assumptions + [(source_line(line), what, check) for line, what, check in later]

    def written_lines(self, text: str) -> set[int]:
        """The lines that a pass wrote, of the text as it is now."""
        lines = text.split("\n") if self.lines else []
        return {
            number for number, line in enumerate(lines, 1) if any(word in line for word in _WRITTEN)
        }

    def check(self, code: str) -> None:
        """No name that a pass wrote for later may be left in the port."""
        if self.lines and any(word in code for word in _WRITTEN):
            raise ValueError("a name of MindSpore was not spelled")

    def source_lines(self, lines: list[int]) -> list[int]:
        """Lines of the text, as lines of the source."""
        if not self.lines:
            return lines
        return [self.lines[line - 1] for line in lines] if lines else self.lines


def restyled(
    resolver: Resolver, resolution: FileResolution, text: str, passes: Sequence[Pass], style: str
) -> Restyled:
    """Run the passes over programs, each on the text as it was written."""
    assert resolution.scope is not None
    result = Restyled(text)
    if resolution.scope.ported:
        return result
    modules = resolver.modules
    planner = ImportPlanner(taken=frozenset())
    context = Context(resolution, modules, modules.table, planner, helper_index())
    context.interpreter = resolver.interpreter
    source = SourceText(text, resolution.scope.tree)
    edits = []
    for one in passes:
        if one.unit == "program" and (one.phase != "style" or style == "mindspore"):
            found = one.run(context, source)
            edits += found.edits
            result.notes += found.notes
            result.findings += found.findings
    result.assumptions = list(context.assumptions)
    if not edits:
        return result
    edited = apply_edits(source, edits)
    result.text = edited.source.text
    result.lines = [
        source.line_of(edited.old_offset(edited.source.offset(line, 0)))
        for line in range(1, len(edited.source.lines) + 1)
    ]
    return result
