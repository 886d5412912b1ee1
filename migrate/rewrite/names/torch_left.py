"""`import torch` for what is left of torch: inside the functions that use it.

    def trace(model, x):          # nobody calls it here
        import torch

        return torch.jit.trace(model, x)

A module that can be imported without torch stays so; a class or a call at its top that needs torch
has the import at the top.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from migrate.syntax.children import code_children
from migrate.syntax.walk import transform_lazily


class TorchLeft:
    """Where the packages that must stay are named."""

    def __init__(self, module: cst.Module, packages: set[str]) -> None:
        self.at_top: set[str] = set()  # packages that the module itself needs
        found: dict[cst.FunctionDef, set[str]] = {}
        for name, function in _names(module) if packages else ():
            if name in packages:
                (self.at_top if function is None else found.setdefault(function, set())).add(name)
        self._inside = {
            function: names - self.at_top
            for function, names in found.items()
            if names - self.at_top
        }

    def imported(self, module: cst.Module) -> cst.Module:
        """The module with imports inside of its functions; these are nodes of the one searched."""
        if not self._inside:
            return module
        return transform_lazily(module, _Insertion(self._inside))


def _names(module: cst.Module) -> Iterator[tuple[str, cst.FunctionDef | None]]:
    """The names that are looked up, each with the outermost function whose body holds it; members,
    keywords and parameters are not looked up.
    """
    pending: list[tuple[cst.CSTNode | None, cst.FunctionDef | None]] = [(module, None)]
    while pending:
        node, function = pending.pop()
        if node is None or isinstance(node, (cst.Import, cst.ImportFrom)):
            continue
        if isinstance(node, cst.Name):
            yield node.value, function
        elif isinstance(node, (cst.Attribute, cst.Arg)):
            pending.append((node.value, function))
        elif isinstance(node, cst.Param):
            pending += [(node.annotation, function), (node.default, function)]
        elif isinstance(node, cst.FunctionDef) and function is None:
            # Decorators, defaults and annotations are evaluated where the function is defined.
            outside = (*node.decorators, node.params, node.returns)
            pending += [(part, None) for part in outside]
            pending.append((node.body, node))
        else:
            pending += [(child, function) for child in code_children(node)]


class _Insertion(cst.CSTTransformer):
    def __init__(self, inside: dict[cst.FunctionDef, set[str]]) -> None:
        super().__init__()
        self.inside = inside

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        names = self.inside.get(original_node)
        if not names:
            return updated_node
        body = updated_node.body
        if isinstance(body, cst.SimpleStatementSuite):
            statement = cst.SimpleStatementLine(body.body)
            body = cst.IndentedBlock([statement])
        statements = [s for s in body.body if isinstance(s, cst.BaseStatement)]
        at = 1 if _is_docstring(statements[0]) else 0
        lines: list[cst.BaseStatement] = [
            cst.parse_statement(f"import {name}") for name in sorted(names)
        ]
        return updated_node.with_changes(
            body=body.with_changes(body=[*statements[:at], *lines, *statements[at:]])
        )


def _is_docstring(statement: cst.BaseStatement) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or not statement.body:
        return False
    first = statement.body[0]
    return isinstance(first, cst.Expr) and isinstance(
        first.value, (cst.SimpleString, cst.ConcatenatedString)
    )
