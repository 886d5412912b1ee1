"""`import torch` for what is left of torch: inside the functions that use it.

    def trace(model, x):          # nobody calls it here
        import torch

        return torch.jit.trace(model, x)

A module that can be imported without torch stays so; a class or a call at its top that needs torch
has the import at the top.
"""

from __future__ import annotations

import libcst as cst


class TorchLeft:
    """Where the packages that must stay are named."""

    def __init__(self, module: cst.Module, packages: set[str]) -> None:
        search = _Search(packages)
        if packages:
            module.visit(search)
        self.at_top = search.at_top  # packages that the module itself needs
        self._inside = {
            function: names - self.at_top
            for function, names in search.inside.items()
            if names - self.at_top
        }

    def imported(self, module: cst.Module) -> cst.Module:
        """The module with imports inside of its functions; these are nodes of the one searched."""
        if not self._inside:
            return module
        changed = module.visit(_Insertion(self._inside))
        assert isinstance(changed, cst.Module)
        return changed


class _Search(cst.CSTVisitor):
    """Where the packages are named: in which outermost function's body, or outside of all."""

    def __init__(self, packages: set[str]) -> None:
        super().__init__()
        self.packages = packages
        self.at_top: set[str] = set()
        self.inside: dict[cst.FunctionDef, set[str]] = {}
        self._function: cst.FunctionDef | None = None

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        """Decorators, defaults and annotations are evaluated where the function is defined."""
        if self._function is not None:
            return True
        for part in (*node.decorators, node.params, node.returns):
            if part is not None:
                part.visit(self)
        self._function = node
        node.body.visit(self)
        self._function = None
        return False

    def visit_Name(self, node: cst.Name) -> None:
        if node.value in self.packages:
            self._found(node.value)

    # Names that are not looked up: members, keywords, parameters.

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        node.value.visit(self)
        return False

    def visit_Arg(self, node: cst.Arg) -> bool:
        node.value.visit(self)
        return False

    def visit_Param(self, node: cst.Param) -> bool:
        for part in (node.annotation, node.default):
            if part is not None:
                part.visit(self)
        return False

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def _found(self, package: str) -> None:
        if self._function is None:
            self.at_top.add(package)
        else:
            self.inside.setdefault(self._function, set()).add(package)


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
        first.value, cst.SimpleString | cst.ConcatenatedString
    )
