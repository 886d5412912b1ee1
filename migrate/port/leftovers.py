"""Names that only dropped code used: their imports and plain assignments go too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any

import libcst as cst

from migrate.port.suites import GONE, without_empty

_PURE = (
    cst.Name,
    cst.Attribute,
    cst.SimpleString,
    cst.Integer,
    cst.Float,
    cst.Comparison,
    cst.BooleanOperation,
    cst.UnaryOperation,
)


def without_leftovers(module: cst.Module, before: ast.Module, imports: Iterable[str]) -> str:
    """The module's text without what the port itself made useless.

    What was unused before is the author's business.
    """
    code = module.code
    after = ast.parse(code)
    ours = {line.rpartition(" ")[2].partition(".")[0] for line in imports}
    unused = (_read(before) | ours) - _read(after)
    if not unused & _bound(after):
        return code
    code = module.visit(_Remover(unused)).code
    ast.parse(code)
    return code


def _read(tree: ast.Module) -> set[str]:
    names = {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)
    }
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            stated = getattr(node, field, None)
            parts = ast.walk(stated) if isinstance(stated, ast.AST) else ()
            texts = [p.value for p in parts if isinstance(p, ast.Constant)]
            names |= {word for t in texts if isinstance(t, str) for word in re.findall(r"\w+", t)}
    # Exported by name counts as used.
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List | ast.Tuple):
            names |= {
                e.value
                for e in statement.value.elts
                if isinstance(e, ast.Constant) and isinstance(e.value, str)
            }
    return names


def _bound(tree: ast.Module) -> set[str]:
    names = {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return names


class _Remover(cst.CSTTransformer):
    def __init__(self, unused: set[str]) -> None:
        super().__init__()
        self.unused = unused
        self._functions = 0

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._functions += 1

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self._functions -= 1
        return updated_node

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> Any:
        return _without(updated_node, self.unused)

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> Any:
        return (
            updated_node
            if isinstance(updated_node.names, cst.ImportStar)
            else _without(updated_node, self.unused)
        )

    def leave_Assign(
        self, original_node: cst.Assign, updated_node: cst.Assign
    ) -> cst.Assign | cst.RemovalSentinel:
        targets = [target.target for target in updated_node.targets]
        if not self._functions or not isinstance(updated_node.value, _PURE):
            return updated_node
        gone = all(
            isinstance(target, cst.Name) and target.value in self.unused for target in targets
        )
        return cst.RemoveFromParent() if gone else updated_node

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        return updated_node if updated_node.body else updated_node.with_changes(body=[GONE])

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        body, rest = without_empty(updated_node.body)
        if not body:
            body, rest = [cst.SimpleStatementLine([cst.Pass()], leading_lines=rest)], []
        return updated_node.with_changes(body=body, footer=[*rest, *updated_node.footer])

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        body, rest = without_empty(updated_node.body)
        return updated_node.with_changes(body=body, footer=[*rest, *updated_node.footer])


def _without(node: Any, unused: set[str]) -> Any:
    kept = [alias for alias in node.names if _bound_name(alias) not in unused]
    if len(kept) == len(node.names):
        return node
    if not kept:
        return cst.RemoveFromParent()
    kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return node.with_changes(names=kept)


def _bound_name(alias: cst.ImportAlias) -> str:
    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return alias.asname.name.value
    return str(alias.evaluated_name).partition(".")[0]
