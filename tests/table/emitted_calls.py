"""The MindSpore names and calls in a piece of source, and whether a parameter list takes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from migrate.table.signature import Signature, parse_signature
from tests.table.mindspore_source import ANY

# How templates and helpers know MindSpore's modules.
ROOTS = {
    "Parameter": "mindspore.Parameter",
    "ParameterTuple": "mindspore.ParameterTuple",
    "Tensor": "mindspore.Tensor",
    "ds": "mindspore.dataset",
    "mindspore": "mindspore",
    "mint": "mindspore.mint",
    "mnp": "mindspore.numpy",
    "nn": "mindspore.nn",
    "ops": "mindspore.ops",
}


@dataclass(frozen=True, slots=True)
class EmittedCall:
    """A call of a MindSpore name; `open` where * or ** hide arguments."""

    name: str
    positional: int
    keywords: tuple[str, ...]
    open: bool
    line: int = 0

    def __str__(self) -> str:
        return f"{self.name}({self.positional} by position, {', '.join(self.keywords)})"

    def fits(self, forms: str) -> bool:
        """Whether one of the parameter lists (joined by ` | `) takes these arguments."""
        return any(
            text == ANY or self._fits(parse_signature(text))
            for text in (forms.split(" | ") if forms else [""])
        )

    def _fits(self, signature: Signature) -> bool:
        places = [p.name for p in signature.positional]
        names = set(signature.names)
        if self.positional > len(places) and signature.varargs is None:
            return False
        taken = set(places[: self.positional])
        for keyword in self.keywords:
            if keyword in taken or (keyword not in names and signature.varkwargs is None):
                return False
        given = taken | set(self.keywords)
        return self.open or all(p.name in given for p in signature.parameters if p.required)


def roots_of(tree: ast.AST) -> dict[str, str]:
    """What each imported MindSpore name means in a file."""
    roots: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "mindspore":
                    bound = alias.asname or "mindspore"
                    roots[bound] = alias.name if alias.asname else "mindspore"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mindspore"):
            for alias in node.names:
                roots[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return roots


def from_template(emit: str) -> ast.AST:
    """A template of the table with its holes as names."""
    return ast.parse(re.sub(r"\{(\w+)\}", r"hole_\1", emit), mode="eval")


def names_in(tree: ast.AST, roots: dict[str, str]) -> Iterator[str]:
    """Every dotted path below MindSpore, the longest ones only."""
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in inner:
            name = _path(node, roots)
            if name:
                yield name


def calls_in(tree: ast.AST, roots: dict[str, str]) -> Iterator[EmittedCall]:
    for node in ast.walk(tree):
        name = _path(node.func, roots) if isinstance(node, ast.Call) else ""
        if name and isinstance(node, ast.Call):
            yield _call(name, node)


def method_calls_in(tree: ast.AST, receiver: str, owner: str) -> Iterator[EmittedCall]:
    """Methods called on one name, as calls of the class's members."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == receiver
        ):
            yield _call(f"{owner}.{node.func.attr}", node)


def _call(name: str, node: ast.Call) -> EmittedCall:
    starred = [a for a in node.args if isinstance(a, ast.Starred)]
    keywords = tuple(k.arg for k in node.keywords if k.arg is not None)
    hidden = bool(starred) or any(k.arg is None for k in node.keywords)
    return EmittedCall(name, len(node.args) - len(starred), keywords, hidden, node.lineno)


def _path(node: ast.AST, roots: dict[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in roots:
        return ""
    return ".".join([roots[node.id], *reversed(parts)])


def longest_known(name: str, known: Iterable[str]) -> str:
    """`mindspore.Tensor.shape.x`: the part of a path that the facts speak of; empty: none."""
    held = known if isinstance(known, set | dict | frozenset) else set(known)
    while name.count("."):
        if name in held:
            return name
        name = name.rpartition(".")[0]
    return ""
