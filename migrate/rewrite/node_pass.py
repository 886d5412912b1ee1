"""What a pass over nodes is made of, and what the passes of one walk share.

A pass has methods by the kinds of nodes:

    visit_Call(node)                 on the way down; False keeps the walk out of the node
    propose_Call(original, updated)  a replacement, or None: the first pass with an answer wins
    leave_Call(original, updated)    changes what was proposed; every pass, in order

Types and usages are asked of the original node, edits are made on the updated one.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import libcst as cst

from migrate.findings import Finding
from migrate.pipeline.context import Context, marker
from migrate.pipeline.refusal import Refusal

Shared = TypeVar("Shared")


@dataclass(slots=True)
class Position:
    """Where the walk stands."""

    functions: list[ast.AST | None] = field(default_factory=list)
    classes: list[ast.ClassDef] = field(default_factory=list)
    nested: int = 0  # lambdas and comprehensions around the node
    annotations: int = 0

    @property
    def function(self) -> ast.AST | None:
        """The innermost function around the node."""
        return self.functions[-1] if self.functions else None


class FileRewrite:
    """One file during its walk."""

    def __init__(self, context: Context, pairs: Mapping[cst.CSTNode, ast.AST]) -> None:
        self.context = context
        self.pairs = pairs
        self.position = Position()
        self.marks: list[list[str]] = [[]]  # comments for each open statement
        self.in_steps: Mapping[ast.AST, object] = {}  # nodes that a training step computes
        self._shared: dict[type, Any] = {}

    def shared(self, kind: type[Shared]) -> Shared:
        """The value of this kind that the passes of the walk share; made when first asked for."""
        if kind not in self._shared:
            self._shared[kind] = kind(self)  # type: ignore[call-arg]
        found: Shared = self._shared[kind]
        return found

    def flag(self, node: ast.AST | None, refusal: Refusal, api: str = "") -> Finding:
        """Note a finding, and a comment above the statement in hand."""
        message = f"{api}: {refusal.message}" if api else refusal.message
        finding = self.context.flag(node, refusal.code, message, refusal.next_step, api)
        self.marks[-1].append(marker(finding))
        return finding

    def is_compiled(self, function: ast.AST | None) -> bool:
        """Whether Graph mode surely compiles the function."""
        return self.context.is_compiled(function)

    def compiles(self, node: ast.AST | None) -> bool:
        """Whether this node of the function in hand is compiled, with it or in a training step."""
        return node in self.in_steps or self.is_compiled(self.position.function)

    @cached_property
    def _module_body(self) -> ast.Module:
        scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return ast.Module([s for s in self.context.tree.body if not isinstance(s, scopes)], [])

    def around(self) -> ast.AST | None:
        """The function that a statement stands in, or the module's own statements."""
        function = self.position.function
        return self._module_body if function is None else function


class FileAccess:
    """Short ways to what passes and shared values ask of the file most often."""

    def __init__(self, file: FileRewrite) -> None:
        self.file = file
        self.context = file.context
        self.spelling = file.context.spelling
        self.table = file.context.table

    def partner(self, node: cst.CSTNode) -> ast.AST | None:
        """The stdlib node of an original libcst node."""
        return self.file.pairs.get(node)

    @property
    def function(self) -> ast.AST | None:
        return self.file.position.function

    def is_compiled(self, function: ast.AST | None) -> bool:
        return self.file.is_compiled(function)

    def flag(self, node: ast.AST | None, refusal: Refusal, api: str = "") -> Finding:
        return self.file.flag(node, refusal, api)


class NodePass(FileAccess):
    """A pass over nodes; see the module's docstring for its methods."""

    def finish(self) -> None:
        """Called after the walk: raise what must not be lost without a word."""
