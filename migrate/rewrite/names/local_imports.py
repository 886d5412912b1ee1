"""Imports of torchvision's models, led to a package of the same models beside the program.

Every line stays where it is: findings name lines of the file as its author knows it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.syntax.access import name_of
from migrate.syntax.ast_index import nodes_of

_MODELS = "torchvision.models"
Edit = tuple[int, int, int, str]  # line, first byte, byte behind the last, new text


def local_imports(text: str, package: str, dots: str) -> str:
    """The text with `package` in the place of torchvision.models; `dots` as before a relative
    name.
    """
    if "torchvision" not in text:
        return text
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return text
    chains = [node for node in nodes_of(tree, ast.Attribute) if _is_models(node)]
    lines = [line.encode() for line in text.split("\n")]
    edits: list[Edit] = [_whole(node, package) for node in chains]
    for node in nodes_of(tree, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            edits += _plain(node, package, dots, used=bool(chains))
        elif not node.level:
            edits += _from(node, package, dots, lines)
    for line, start, end, new in sorted(edits, reverse=True):
        lines[line] = lines[line][:start] + new.encode() + lines[line][end:]
    return b"\n".join(lines).decode()


def _is_models(node: ast.Attribute) -> bool:
    return (
        node.attr == "models"
        and name_of(node.value) == "torchvision"
        and node.lineno == node.end_lineno
    )


def _whole(node: ast.expr | ast.alias, new: str) -> Edit:
    assert node.end_col_offset is not None
    return node.lineno - 1, node.col_offset, node.end_col_offset, new


def _below(name: str) -> str | None:
    """`resnet` of torchvision.models.resnet, '' of the package itself, None of anything else."""
    if name == _MODELS:
        return ""
    return name.removeprefix(f"{_MODELS}.") if name.startswith(f"{_MODELS}.") else None


def import_line(package: str, dots: str, below: str, bound: str) -> str:
    """One import of the package, or of a module in it, under the name that the program uses."""
    if not dots:
        name = f"{package}.{below}" if below else package
        return f"import {name}" if bound == package else f"import {name} as {bound}"
    parts = [package, *below.split(".")] if below else [package]
    source = dots + ".".join(parts[:-1])
    return f"from {source} import {parts[-1]}" + (f" as {bound}" if bound != parts[-1] else "")


def _plain(node: ast.Import, package: str, dots: str, *, used: bool) -> Iterator[Edit]:
    """`import torchvision.models as models`, and `import torchvision` where its models are used."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    new, kept = [], []
    for alias in node.names:
        below = _below(alias.name)
        if below is not None and alias.asname:
            new.append(import_line(package, dots, below, alias.asname))
        elif below is not None:
            kept.append("torchvision")
            new.append(import_line(package, dots, "", package))
            new += [f"import {package}.{below}"] if below and not dots else []
        else:
            kept.append(alias.name + (f" as {alias.asname}" if alias.asname else ""))
            if used and alias.name == "torchvision" and not alias.asname:
                new.append(import_line(package, dots, "", package))
    if new and node.lineno == node.end_lineno:
        statements = [f"import {', '.join(dict.fromkeys(kept))}"] if kept else []
        text = "; ".join([*statements, *dict.fromkeys(new)])
        yield node.lineno - 1, node.col_offset, node.end_col_offset, text


def _from(node: ast.ImportFrom, package: str, dots: str, lines: list[bytes]) -> Iterator[Edit]:
    assert node.end_lineno is not None and node.end_col_offset is not None
    module = node.module or ""
    if _below(module) is not None:
        place = lines[node.lineno - 1].find(_MODELS.encode(), node.col_offset)
        if place >= 0:
            yield node.lineno - 1, place, place + len(_MODELS), f"{dots}{package}"
        return
    chosen = [alias for alias in node.names if module == "torchvision" and alias.name == "models"]
    for alias in chosen:
        line = import_line(package, dots, "", alias.asname or "models")
        if len(node.names) == 1:
            yield from _instead(node, line, lines)
            continue
        # Beside others: its place in the list goes, with the comma that belongs to it.
        row, start, end, _ = _whole(alias, "")
        rest = lines[row][end:]
        comma = len(rest) - len(rest.lstrip(b" \t"))
        if rest[comma : comma + 1] == b",":
            end += comma + 1
            end += len(lines[row][end:]) - len(lines[row][end:].lstrip(b" "))
        else:
            before = lines[row][:start].rstrip(b" ")
            start = len(before) - 1 if before.endswith(b",") else start
        yield row, start, end, ""
        yield node.end_lineno - 1, node.end_col_offset, node.end_col_offset, f"; {line}"


def _instead(node: ast.ImportFrom, new: str, lines: list[bytes]) -> Iterator[Edit]:
    """The whole statement goes; of several lines, the later ones stay empty."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    for row in range(node.lineno - 1, node.end_lineno):
        first, last = row == node.lineno - 1, row == node.end_lineno - 1
        start = node.col_offset if first else 0
        end = node.end_col_offset if last else len(lines[row])
        yield row, start, end, new if first else ""
