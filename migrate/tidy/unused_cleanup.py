"""Names that only dropped code used: their imports and plain assignments go too."""

from __future__ import annotations

import ast
import re
from collections.abc import Container
from typing import Any

import libcst as cst

from migrate.flow.project_flags import imported_names
from migrate.pipeline import becomes, declare, same
from migrate.pipeline.context import Context
from migrate.rewrite.statements.suites import GONE, tidied, without_empty
from migrate.syntax.access import is_store, stored_names
from migrate.syntax.ast_index import all_nodes, nodes_of
from migrate.syntax.text import code, module_code
from migrate.syntax.walk import transform_lazily

_PURE = (
    cst.Name,
    cst.Attribute,
    cst.SimpleString,
    cst.Integer,
    cst.Float,
    cst.Comparison,
    cst.BooleanOperation,
    cst.UnaryOperation,
    cst.IfExp,
)
_REMOVABLE = (cst.Import, cst.ImportFrom, cst.Assign)
_DEVICE = re.compile(r"""device_target|^["'](cuda|cpu|mps)|^\w+\.device\(""")


@declare(
    phase="tidy",
    unit="module",
    needs=["imports"],
    after={
        "dead_device_vars": "the names that only told the device are unused then",
    },
    examples=[
        becomes(
            """
            def move(x: torch.Tensor, name):
                device_name = name
                return x.to(device_name)
            """,
            """
            def move(x: Tensor, name):
                return x
            """,
        ),
        same("unused = 1"),
    ],
)
def remove_unused_names(module: cst.Module, context: Context) -> cst.Module:
    """The module without what the port itself made useless.

    What was unused before is the author's business, and so are names that other files import.
    """
    text = module_code(module)
    ours = {line.rpartition(" ")[2].partition(".")[0] for line in context.spelling.imports}
    candidates = _read(context.tree) | context.lowered_names | ours
    wanted = imported_names(context.modules.project)
    while True:
        after = context.ported_tree = ast.parse(text)
        unused = candidates - _read(after)
        if not unused & _bound(after):
            return module
        shorter = transform_lazily(module, _Remover(unused, wanted))
        if module_code(shorter) == text:
            return module
        module, text = shorter, module_code(shorter)  # what one needed may be of no use now


def _read(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    names |= {n.id for n in nodes_of(tree, ast.Name) if not is_store(n)}
    for node in nodes_of(tree, ast.arg, ast.AnnAssign):
        names |= _quoted_words(node.annotation)
    for node in nodes_of(tree, ast.FunctionDef, ast.AsyncFunctionDef):
        names |= _quoted_words(node.returns)
    # Exported by name counts as used.
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.List, ast.Tuple)):
            names |= {
                e.value
                for e in statement.value.elts
                if isinstance(e, ast.Constant) and isinstance(e.value, str)
            }
    return names


def _quoted_words(annotation: ast.expr | None) -> set[str]:
    if annotation is None or type(annotation) is ast.Name:
        return set()
    texts = [part.value for part in all_nodes(annotation) if isinstance(part, ast.Constant)]
    return {word for t in texts if isinstance(t, str) for word in re.findall(r"\w+", t)}


def _bound(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    names |= stored_names(nodes_of(tree, ast.Name))
    for node in nodes_of(tree, ast.Import, ast.ImportFrom):
        names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return names


def _makes_device(function: cst.BaseExpression) -> bool:
    """`torch.device` of `torch.device("cuda")`"""
    return (
        isinstance(function, cst.Attribute)
        and function.attr.value == "device"
        and isinstance(function.value, cst.Name)
    )


def _is_pure(value: cst.BaseExpression) -> bool:
    """Reading it has no effect; nor has naming a device."""
    if isinstance(value, cst.Call) and _makes_device(value.func):
        return all(
            isinstance(argument.value, (*_PURE, cst.FormattedString)) for argument in value.args
        )
    return isinstance(value, _PURE)


class _Remover(cst.CSTTransformer):
    def __init__(self, unused: set[str], wanted: Container[str]) -> None:
        super().__init__()
        self.unused = unused
        self.wanted = wanted
        self._functions = 0

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return any(isinstance(part, _REMOVABLE) for part in node.body)

    def visit_Assign(self, node: cst.Assign) -> bool:
        return False

    def visit_Parameters(self, node: cst.Parameters) -> bool:
        return False

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
        if not _is_pure(updated_node.value):
            return updated_node
        gone = all(
            isinstance(target, cst.Name) and target.value in self.unused for target in targets
        )
        if gone and not self._functions:
            # In a module, only what named a device: anything else may be a setting of the author.
            text = code(updated_node.value)
            names = [target.value for target in targets if isinstance(target, cst.Name)]
            gone = bool(_DEVICE.search(text)) and not any(name in self.wanted for name in names)
        return cst.RemoveFromParent() if gone else updated_node

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        return updated_node if updated_node.body else updated_node.with_changes(body=[GONE])

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return tidied(updated_node)

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
