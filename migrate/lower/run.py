"""Run the lowering passes on a file, until none of them changes anything."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from migrate.flow.answer import Verdict
from migrate.lower.function import FUNCTIONS, CompiledFunction
from migrate.pipeline.declare import Pass
from migrate.resolve.values import Value
from migrate.syntax.edits import SourceText, apply_edits, origins

_MOST_ROUNDS = 12  # of one pass over one file: each round settles at least one level of nesting


@dataclass(slots=True)
class Lowered:
    """The text, and the line of the source that each of its lines came from."""

    text: str
    lines: list[int] = field(default_factory=list)  # empty where nothing changed

    def source_line(self, line: int) -> int:
        return self.lines[line - 1] if 0 < line <= len(self.lines) else line


def lower(
    text: str,
    tree: ast.Module,
    types: Mapping[ast.AST, Value],
    compiled: Mapping[str, Verdict],
    passes: Sequence[Pass],
) -> Lowered:
    """The text in forms that Graph mode compiles; `compiled` by the functions' dotted names."""
    if not compiled:
        return Lowered(text)
    source, lines = SourceText(text, tree), list(range(1, text.count("\n") + 2))
    functions = compiled_functions(source, types, compiled)
    for one in passes:
        for _ in range(_MOST_ROUNDS):
            for function in functions:
                one.run(function)
            edits = [edit for function in functions for edit in function.edits]
            if not edits:
                break
            try:
                edited = apply_edits(source, edits)
            except SyntaxError:  # what a pass made is no Python: the source stays as it was
                return Lowered(text)
            types = {new: types[old] for new, old in origins(source, edited) if old in types}
            lines = [
                lines[source.line_of(edited.old_offset(edited.source.offset(line, 0))) - 1]
                for line in range(1, len(edited.source.lines) + 1)
            ]
            source = edited.source
            functions = compiled_functions(source, types, compiled)
    return Lowered(source.text, lines if source.text != text else [])


def compiled_functions(
    source: SourceText, types: Mapping[ast.AST, Value], compiled: Mapping[str, Verdict]
) -> list[CompiledFunction]:
    """The compiled functions of a file, in source order."""
    found: list[CompiledFunction] = []

    def visit(body: Sequence[ast.stmt], path: str, owner: ast.ClassDef | None) -> None:
        for node in body:
            if isinstance(node, FUNCTIONS) and f"{path}{node.name}" in compiled:
                name = f"{path}{node.name}"
                found.append(CompiledFunction(source, node, name, owner, compiled[name], types))
            elif isinstance(node, ast.ClassDef):
                visit(node.body, f"{path}{node.name}.", node)
            elif isinstance(node, (ast.If, ast.Try, ast.With)):
                for block in ("body", "orelse", "finalbody"):
                    visit(getattr(node, block, ()), path, owner)

    visit(source.tree.body, "", None)
    return found
