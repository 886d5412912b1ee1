"""A port into a place that holds earlier ones: their files go on needing their helpers."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from pathlib import Path

from migrate.syntax.import_planner import HELPER_MODULE
from migrate.table.helper_pieces import helper_index

_IMPORTED_AS = re.compile(rf"\bimport {HELPER_MODULE} as (\w+)")


def existing_helpers(
    module: Path, written: Collection[Path]
) -> tuple[dict[str, None], dict[str, str]]:
    """Names of helpers, and texts of pieces that no helper file has, which other files use."""
    if not module.is_file():
        return {}, {}
    used: set[str] = set()
    for path in sorted(module.parent.rglob("*.py")):
        if path != module and path not in written:
            text = path.read_text(encoding="utf-8", errors="replace")
            for alias in _IMPORTED_AS.findall(text):
                used |= set(re.findall(rf"\b{alias}\.(\w+)", text))
    index = helper_index()
    known = dict.fromkeys(sorted(name for name in used if name in index))
    unknown = used - set(known)
    pieces = _pieces(module.read_text(encoding="utf-8", errors="replace"), unknown)
    return known, {name: pieces[name] for name in sorted(unknown) if name in pieces}


def _bound(line: ast.Import | ast.ImportFrom) -> set[str]:
    return {(alias.asname or alias.name).partition(".")[0] for alias in line.names}


def _pieces(text: str, wanted: set[str]) -> dict[str, str]:
    """Definitions of a helper module, each with the imports that it needs."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in wanted:
            words = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            needed = [ast.unparse(line) for line in imports if _bound(line) & words]
            body = ast.get_source_segment(text, node) or ""
            decorators = [f"@{ast.unparse(d)}" for d in node.decorator_list]
            found[node.name] = "\n".join([*needed, *decorators, body])
    return found
