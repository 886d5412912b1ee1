"""What an import cannot bring along: packages built on torch, files of the program left behind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from migrate.pipeline.refusal import Refusal
from migrate.project import SourceFile
from migrate.resolve.foreign import count_uses, foreign_imports
from migrate.resolve.modules import Modules
from migrate.resolve.neighbours import unported_neighbours
from migrate.syntax.ast_index import nodes_of


class ImportFinding(NamedTuple):
    """Something to say about one import statement."""

    statement: ast.stmt
    refusal: Refusal
    api: str


# By the statement's form, because imports are not paired between the two trees; statements of the
# same form in their order.
ImportFindings = dict[str, list[list[ImportFinding]]]


def import_findings(tree: ast.Module, source: SourceFile, modules: Modules) -> ImportFindings:
    """All of one file's."""
    found: dict[ast.AST, list[ImportFinding]] = {}
    for finding in (*_foreign(tree, source, modules), *_left_behind(tree, source, modules)):
        found.setdefault(finding.statement, []).append(finding)
    by_form: ImportFindings = {}
    for same in sorted(found.values(), key=lambda one: one[0].statement.lineno):
        by_form.setdefault(ast.dump(same[0].statement), []).append(same)
    return by_form


def _foreign(tree: ast.Module, source: SourceFile, modules: Modules) -> Iterator[ImportFinding]:
    for foreign in foreign_imports(nodes_of(tree, ast.Import, ast.ImportFrom), source, modules):
        uses = count_uses(foreign, nodes_of(tree, ast.Name))
        message = f"{foreign.message}; used {uses}× here" if uses else foreign.message
        refusal = Refusal(message, foreign.package.way, "MS315")
        yield ImportFinding(foreign.statement, refusal, foreign.package.name)


def _left_behind(tree: ast.Module, source: SourceFile, modules: Modules) -> Iterator[ImportFinding]:
    for node in nodes_of(tree, ast.Import, ast.ImportFrom):
        for file in unported_neighbours(node, source, modules):
            message = f"{file.path.name} uses torch and is not among the files to be ported"
            step = f"port it along: ms-migrate port {source.path.name} {file.path.name} -o DIR"
            yield ImportFinding(node, Refusal(message, step, "MS316"), file.module)
