"""The guard in front of every write: what the porter gives must be a program, and the same one.

- every name that it reads is bound somewhere, or was free in the source too;
- every MindSpore name in it exists in the release that it is for;
- classes and functions of the source are still there;
- a function in which nothing of torch is used is what it was, by its syntax tree.

A file that fails is left as it is, with a finding. That the text parses is known by then: the
guard is given its tree. That a second port changes nothing costs a second port, so it is checked
over whole packages (`make fuzz`) and not for every file.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from migrate.syntax.access import is_read
from migrate.syntax.ast_index import nodes_of
from migrate.table.mindspore_names import MindSporeNames

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WITH_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_IMPORTS = (ast.Import, ast.ImportFrom)
_ALWAYS_BOUND = frozenset(dir(builtins)) | {
    "__file__",
    "__path__",
    "__class__",
    "__annotations__",
    "__builtins__",
    "__module__",
    "__qualname__",
}


@dataclass(slots=True)
class Version:
    """One text of a file, with its tree."""

    text: str
    tree: ast.Module
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.text.split("\n")

    def source(self, node: ast.stmt) -> list[str]:
        return self.lines[node.lineno - 1 : node.end_lineno]


@dataclass(frozen=True, slots=True)
class Touched:
    """Where the porter had something to do."""

    lines: frozenset[int]  # of torch's imports and usages, and of findings
    classes: frozenset[str]  # whose methods are compiled or renamed
    functions: frozenset[str]  # that are compiled

    def concerns(self, node: Function, owner: str) -> bool:
        if owner in self.classes or node.name in self.functions:
            return True
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        return any(line in self.lines for line in range(first, (node.end_lineno or 0) + 1))


def violations(
    before: Version, after: Version, touched: Touched, names: MindSporeNames
) -> Iterator[str]:
    """What is wrong with the port of a file, in words; nothing for nearly every file."""
    free = free_names(after.tree) - free_names(before.tree)
    if free:
        yield f"{_listed(free)} would not be bound"
    unknown = set(mindspore_names(after.tree)) - set(mindspore_names(before.tree))
    missing = {name for name in unknown if not names.has(name)}
    if missing:
        yield f"MindSpore {names.version} has no {_listed(missing)}"
    yield from _changed_functions(before, after, touched)


def _listed(names: Collection[str]) -> str:
    shown = sorted(names)[:5]
    return ", ".join(shown) + (", ..." if len(names) > len(shown) else "")


def free_names(tree: ast.Module) -> set[str]:
    """Names that are read and that no scope of the file binds."""
    read: set[str] = set()
    bound: set[str] = set()
    for node in nodes_of(tree, ast.Name):
        (read if is_read(node) else bound).add(node.id)
    bound |= {node.arg for node in nodes_of(tree, ast.arg)}
    named = (*_FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
    bound |= {node.name for node in nodes_of(tree, *named) if node.name}
    bound |= {node.rest for node in nodes_of(tree, ast.MatchMapping) if node.rest}
    for node in nodes_of(tree, ast.Global, ast.Nonlocal):
        bound |= set(node.names)
    for node in nodes_of(tree, *_IMPORTS):
        for alias in node.names:
            bound.add(alias.asname or alias.name.partition(".")[0])
    return read - bound - _ALWAYS_BOUND


def _mindspore_imports(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """(imported name, the variable that it binds, what that stands for) of each import."""
    for node in nodes_of(tree, ast.Import):
        for alias in node.names:
            root = alias.name.partition(".")[0]
            if root == "mindspore":
                yield alias.name, alias.asname or root, alias.name if alias.asname else root
    for node in nodes_of(tree, ast.ImportFrom):
        if node.level or (node.module or "").partition(".")[0] != "mindspore":
            continue
        for alias in node.names:
            if alias.name != "*":
                dotted = f"{node.module}.{alias.name}"
                yield dotted, alias.asname or alias.name, dotted


def mindspore_names(tree: ast.Module) -> Iterator[str]:
    """The MindSpore names that a file's imports and attributes spell out."""
    imported = list(_mindspore_imports(tree))
    yield from (dotted for dotted, _, _ in imported)
    roots = {bound: root for _, bound, root in imported}
    if not roots:
        return
    local = {node.id for node in nodes_of(tree, ast.Name) if not is_read(node)}
    local |= {node.arg for node in nodes_of(tree, ast.arg)}
    local |= _bound_by_others(tree, {dotted for dotted, _, _ in imported})
    for node in nodes_of(tree, ast.Attribute):
        parts: list[str] = []
        while node.__class__ is ast.Attribute:
            parts.append(node.attr)
            node = node.value
        if node.__class__ is ast.Name and node.id in roots and node.id not in local:
            yield ".".join([roots[node.id], *reversed(parts)])


def _bound_by_others(tree: ast.Module, imported: Collection[str]) -> set[str]:
    """Names of other packages: `from flax import linen as nn` in a function of its own."""
    return {
        alias.asname or alias.name.partition(".")[0]
        for node in nodes_of(tree, *_IMPORTS)
        for alias in node.names
        if (f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name)
        not in imported
    }


def _changed_functions(before: Version, after: Version, touched: Touched) -> Iterator[str]:
    """Functions without torch that are gone or differ; a rewritten class may move its methods."""
    there: dict[tuple[str, str], list[ast.stmt]] = {}
    for owner, node in functions(after.tree):
        there.setdefault((owner, node.name), []).append(node)
    for owner, node in functions(before.tree):
        if touched.concerns(node, owner):
            continue
        candidates = there.get((owner, node.name), [])
        text = before.source(node)
        if any(after.source(other) == text for other in candidates):
            continue
        dumped = ast.dump(node)
        if not any(ast.dump(other) == dumped for other in candidates):
            name = f"{owner}.{node.name}" if owner else node.name
            state = "would change" if candidates else "would be lost"
            yield f"{name} (line {node.lineno}), which uses nothing of torch, {state}"


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """The functions and methods of a module, each with its class, also those in branches, handlers
    and loops; those inside others count as parts of them.
    """
    pending: list[tuple[str, ast.AST]] = [("", node) for node in reversed(tree.body)]
    while pending:
        owner, node = pending.pop()
        if isinstance(node, _FUNCTIONS):
            yield owner, node
            continue
        if isinstance(node, ast.ClassDef):
            owner = f"{owner}.{node.name}" if owner else node.name
        inside = [n for n in ast.iter_child_nodes(node) if isinstance(n, _WITH_STATEMENTS)]
        pending += [(owner, inner) for inner in reversed(inside)]
