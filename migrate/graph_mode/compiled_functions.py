"""The functions of a ported file that Graph mode compiles, for passes over the finished code."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import libcst as cst

from migrate.flow.compiled import definitions
from migrate.pipeline.context import Context
from migrate.syntax.text import code

_DUE = frozenset(
    """
    OrderedDict copy dict extend insert partial pop remove reverse sort
    """.split()  # noqa: SIM905
)
# From a function, its text and its file to the function as it can be compiled.
FunctionPass = Callable[[cst.FunctionDef, str, Context], cst.FunctionDef]


def compiled_names(context: Context) -> frozenset[str]:
    """Of functions that a pass may change, as the port names them: `Net.construct`."""
    return frozenset(
        _ported(name)
        for name, node in definitions(context.tree)
        if context.is_compiled(node) and any(map(_is_due, ast.walk(node)))
    )


def all_compiled_names(context: Context) -> frozenset[str]:
    """Of all functions that are compiled."""
    return frozenset(
        _ported(name) for name, node in definitions(context.tree) if context.is_compiled(node)
    )


def _is_due(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        called = node.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        return name in _DUE
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Subscript)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Tuple)
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Attribute) for target in node.targets)
    return isinstance(node, ast.For | ast.If)


def _ported(name: str) -> str:
    owner, _, last = name.rpartition(".")
    return f"{owner}.construct" if last == "forward" else name


class CompiledFunctions(cst.CSTTransformer):
    """Hands each compiled function to the passes, in their order; nothing else is looked into."""

    def __init__(
        self, names: frozenset[str], passes: Sequence[FunctionPass], context: Context
    ) -> None:
        super().__init__()
        self._names = names
        self._passes = passes
        self._context = context
        self._path: list[str] = []

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self._path.append(node.name.value)

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        self._path.pop()
        return updated_node

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False

    def visit_Parameters(self, node: cst.Parameters) -> bool:
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._path.append(node.name.value)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        path = ".".join(self._path)
        self._path.pop()
        if path not in self._names:
            return updated_node
        function, text = updated_node, code(updated_node)
        for one in self._passes:
            changed = one(function, text, self._context)
            if changed is not function:
                function, text = changed, code(changed)
        return function
