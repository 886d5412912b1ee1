"""Text that a program runs, or loads a module by, and that names torch: `import_module("torch")`,
`exec("import torch")`, `sys.modules["torch"]`, `eval("nn." + name)`.

No name in the tree says what such code means; whoever asks reports the place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from migrate.resolve.module_scope import ModuleScope
from migrate.resolve.values import External
from migrate.syntax.ast_index import nodes_of

_RUN = frozenset({"eval", "exec"})
_LOADED = frozenset({"import_module", "__import__"})


def texts_naming_torch(
    scope: ModuleScope, roots: Collection[str]
) -> Iterator[tuple[ast.expr, str, str]]:
    """Each such expression with what it does (`run`, `loaded`) and the text that says torch."""
    if not scope.may_run_text:
        return
    names = _Names(scope, roots)
    for node in nodes_of(scope.tree, ast.Call, ast.Subscript):
        how, holders = names.read_by(node)
        texts = [text for holder in holders for text in _texts_in(holder)]
        named = next((text for text in texts if names.says_torch(text, how)), None)
        if named is not None:
            yield node, how, named.strip()


def described(how: str, named: str) -> tuple[str, str]:
    """What to say of such an expression, and what to do about it."""
    if how == "run":
        step = "write out what it can be: {'ReLU': nn.ReLU, ...}[name]"
        return f"text is run that names torch: {named!r}", step
    step = "import it by an import statement, which is ported with all that uses it"
    return f"a module of torch is loaded by its name: {named!r}", step


class _Names:
    """What the names of one file stand for."""

    def __init__(self, scope: ModuleScope, roots: Collection[str]) -> None:
        self._imports = scope.frame.imports
        self._roots = roots
        self._loaders = {
            alias.asname
            for node in nodes_of(scope.tree, ast.ImportFrom)
            for alias in node.names
            if alias.name in _LOADED and alias.asname
        }

    def read_by(self, node: ast.expr) -> tuple[str, list[ast.expr]]:
        """How the node takes text for code, and the expressions that hold the text."""
        if isinstance(node, ast.Subscript):
            return ("loaded", [node.slice]) if _last(node.value) == "modules" else ("", [])
        if not isinstance(node, ast.Call):
            return "", []
        called = _last(node.func)
        if called in _RUN:
            return "run", node.args
        if called in _LOADED or called in self._loaders:
            return "loaded", node.args
        # sys.modules.get("torch")
        table = node.func.value if isinstance(node.func, ast.Attribute) else None
        taken = called in ("get", "pop") and table is not None and _last(table) == "modules"
        return ("loaded", node.args[:1]) if taken else ("", [])

    def says_torch(self, text: str, how: str) -> bool:
        if how == "run" and any(map(self._is_torch, _imported_by(text))):
            return True
        head = re.match(r"\s*(\w+)", text)
        if head is None:
            return False
        value = self._imports.get(head[1]) if how == "run" else None
        return self._is_torch(value.name if isinstance(value, External) else head[1])

    def _is_torch(self, name: str) -> bool:
        return name.partition(".")[0] in self._roots


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _texts_in(node: ast.expr) -> Iterator[str]:
    """The text as a whole where it is written out, and each part of it."""
    whole = _folded(node)
    if whole is not None:
        yield whole
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _folded(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [node.left, node.right]
    elif isinstance(node, ast.JoinedStr):
        parts = node.values
    texts = [_folded(part) for part in parts]
    known = [text for text in texts if text is not None]
    return "".join(known) if parts and len(known) == len(texts) else None


def _imported_by(text: str) -> list[str]:
    """The modules that a text of statements imports."""
    found = re.findall(r"(?:^|[;:\n])\s*(?:import|from)\s+([\w.]+)", text)
    return [str(name) for name in found]
