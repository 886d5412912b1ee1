"""What a port means, without its layout: its syntax tree, and its findings by kind."""

from __future__ import annotations

import ast
import difflib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from migrate.port.tree import Options, port_tree
from migrate.project import discover
from migrate.table import Table

_IMPORTS = (ast.Import, ast.ImportFrom)
# Says for the whole program how layers start; the second time it changes nothing.
_ONCE = "helpers.start_in_training_mode()"


@dataclass(frozen=True)
class Meaning:
    """Definitions and other statements as normalised source, and the findings' codes."""

    statements: tuple[str, ...]
    findings: Counter[str]

    def difference(self, other: Meaning) -> str:
        """Readable; empty when the two mean the same."""
        lines = list(
            difflib.unified_diff(
                "\n".join(self.statements).split("\n"),
                "\n".join(other.statements).split("\n"),
                lineterm="",
                n=1,
            )
        )
        if self.findings != other.findings:
            lines.append(f"findings: {dict(self.findings)} became {dict(other.findings)}")
        return "\n".join(lines)


def port_meaning(folder: Path, sources: dict[str, str], table: Table) -> dict[str, Meaning]:
    """Port the files together and say what each became."""
    for name, text in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    result = port_tree([folder], discover([folder]), table, Options(jobs=1))
    found = {}
    for target, ported in result.files.items():
        problems = [ported.problem] if ported.problem else []
        codes = Counter(finding.code for finding in [*ported.findings, *problems])
        found[str(target)] = Meaning(normalised(ported.text), codes)
    return found


def normalised(text: str) -> tuple[str, ...]:
    """Statements of the top level in source order, without imports and docstrings."""
    tree = _Bare().visit(ast.parse(text))
    return tuple(
        ast.unparse(statement) for statement in tree.body if not isinstance(statement, _IMPORTS)
    )


def merged(meanings: Iterable[Meaning]) -> Meaning:
    """Several files as one, definitions sorted: where they stand does not matter."""
    several = list(meanings)
    statements = sorted(part for meaning in several for part in meaning.statements)
    if _ONCE in statements:
        statements = [_ONCE, *(part for part in statements if part != _ONCE)]
    return Meaning(tuple(statements), sum((m.findings for m in several), Counter()))


def without_suffix(meaning: Meaning, suffix: str) -> Meaning:
    """Names as they were before a renaming, those made of them (`x_grads`) among them."""
    pattern = re.compile(rf"(?<=\w){suffix}(?=\b|_)")
    return Meaning(tuple(pattern.sub("", part) for part in meaning.statements), meaning.findings)


class _Bare(ast.NodeTransformer):
    """Docstrings may be wrapped by their printer."""

    def _body(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        body = node.body  # type: ignore[attr-defined]
        if (
            len(body) > 1
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and isinstance(body[0].value.value, str)
        ):
            del body[0]
        return node

    visit_FunctionDef = visit_ClassDef = visit_Module = _body
