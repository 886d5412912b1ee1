"""Generated calls as a formatter would break them."""

from __future__ import annotations

import ast

_STEP = "    "
# Names of MindSpore before they are spelled, and as long as they will be.
_SHORT = {
    "__mindspore__.train.": "",
    "__mindspore__.dataset.": "ds.",
    "__mindspore__.nn.": "nn.",
    "__mindspore__": "mindspore",
    "__helpers__": "helpers",
}


def laid_out(text: str, indent: str, width: int) -> list[str]:
    """The lines of a statement, which fits into the width or is broken at its arguments."""
    statement = ast.parse(text).body[0]
    if isinstance(statement, ast.Assign):
        head = f"{ast.unparse(statement.targets[0])} = "
        return _broken(statement.value, head, "", indent, width)
    if isinstance(statement, ast.Expr):
        return _broken(statement.value, "", "", indent, width)
    return text.split("\n")


def _broken(node: ast.AST, head: str, tail: str, indent: str, width: int) -> list[str]:
    text = _source(node)
    parts = _parts(node)
    if len(indent) + _length(f"{head}{text}{tail}") <= width or parts is None:
        return [f"{head}{text}{tail}"]
    opening, children, closing = parts
    lines = [f"{head}{opening}"]
    for prefix, child in children:
        inner = _broken(child, prefix, ",", indent + _STEP, width)
        lines += [f"{_STEP}{line}" for line in inner]
    return [*lines, f"{closing}{tail}"]


def _length(text: str) -> int:
    """With the names as long as they will be."""
    for name, short in _SHORT.items():
        text = text.replace(name, short)
    return len(text)


def _source(node: ast.AST) -> str:
    return ast.unparse(node)


def _parts(node: ast.AST) -> tuple[str, list[tuple[str, ast.AST]], str] | None:
    if isinstance(node, ast.Call) and (node.args or node.keywords):
        children: list[tuple[str, ast.AST]] = [("", one) for one in node.args]
        children += [(f"{k.arg}=", k.value) for k in node.keywords]
        return f"{_source(node.func)}(", children, ")"
    if isinstance(node, ast.List) and node.elts:
        return "[", [("", one) for one in node.elts], "]"
    if isinstance(node, ast.Dict) and node.keys:
        pairs = zip(node.keys, node.values, strict=True)
        return "{", [(f"{_source(k)}: ", v) for k, v in pairs if k is not None], "}"
    return None
