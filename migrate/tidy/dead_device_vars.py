"""`b, n, device = *x.shape, x.device`: where a tensor is, nobody asks once the port is done.

MindSpore places tensors itself, so the reads of `device` go away with torch's `device=` arguments.
In a compiled construct the text that `x.device` gives would make all that stands beside it unknown
to the compiler, so what is still read gets a line of its own.
"""

from __future__ import annotations

import ast
import textwrap

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.rewrite.statements.suites import GONE, tidied
from migrate.syntax.access import is_read
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.text import code
from migrate.syntax.walk import transform_lazily

_Pair = tuple[cst.BaseElement, cst.BaseElement]


@declare(
    phase="tidy",
    unit="module",
    examples=[
        becomes(
            "b, n, device = *x.shape, x.device\nx = torch.zeros(b, n, device=device)",
            "b, n = x.shape\nx = ops.zeros((b, n))",
        ),
    ],
)
def remove_dead_device_vars(module: cst.Module, context: Context) -> cst.Module:
    """What did not name a device before the port has none now."""
    if ".device" not in context.text:
        return module
    return transform_lazily(module, _Devices())


class _Devices(cst.CSTTransformer):
    def __init__(self) -> None:
        super().__init__()
        self._functions: list[cst.FunctionDef] = []

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._functions.append(node)

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False  # looked at as a whole

    def visit_Parameters(self, node: cst.Parameters) -> bool:
        return False

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self._functions.pop()
        return updated_node

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
        assign = updated_node.body[0] if len(updated_node.body) == 1 else None
        if not self._functions or not isinstance(assign, cst.Assign) or len(assign.targets) > 1:
            return updated_node
        target, value = assign.targets[0].target, assign.value
        if _is_device(value) and isinstance(target, cst.Name) and not self._is_read(target.value):
            return updated_node.with_changes(body=[GONE])
        if not isinstance(target, cst.Tuple) or not isinstance(value, cst.Tuple):
            return updated_node
        pairs = [(t, v) for t, v in _pairs(target, value) if _is_device(v.value)]
        if not pairs:
            return updated_node
        return self._taken_apart(updated_node, pairs, _without(assign, target, value, pairs))

    def _taken_apart(
        self,
        statement: cst.SimpleStatementLine,
        pairs: list[tuple[cst.BaseElement, cst.BaseElement]],
        rest: cst.Assign | None,
    ) -> cst.FlattenSentinel[cst.SimpleStatementLine]:
        """The devices that are read, each on a line, and the rest of the assignment."""
        read = [(t, v) for t, v in pairs if self._is_read(t.value.value)]  # type: ignore[attr-defined]
        lines = [
            cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(t.value)], v.value)])  # type: ignore[arg-type]
            for t, v in read
        ]
        if rest is None:
            lines = lines or [statement.with_changes(body=[GONE])]
        else:
            lines.append(statement.with_changes(body=[rest]))
        lines[0] = lines[0].with_changes(leading_lines=statement.leading_lines)
        lines[1:] = [line.with_changes(leading_lines=[]) for line in lines[1:]]
        return cst.FlattenSentinel(lines)

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return tidied(updated_node)

    def _is_read(self, name: str) -> bool:
        """In the outermost function, so that what a nested one reads counts."""
        tree = ast.parse(textwrap.dedent(code(self._functions[0])))
        return any(node.id == name and is_read(node) for node in nodes_of(tree, ast.Name))


def _is_device(value: cst.BaseExpression) -> bool:
    """Of a plain name or attribute: reading it has no other effect."""
    if not isinstance(value, cst.Attribute) or value.attr.value != "device":
        return False
    owner: cst.BaseExpression = value.value
    while isinstance(owner, cst.Attribute):
        owner = owner.value
    return isinstance(owner, cst.Name)


def _pairs(target: cst.Tuple, value: cst.Tuple) -> list[_Pair]:
    """Which target gets which value; what lies between stars nobody knows."""
    found: list[_Pair] = []
    for step in (1, -1):
        for one, other in zip(target.elements[::step], value.elements[::step], strict=False):
            if isinstance(one, cst.StarredElement) or isinstance(other, cst.StarredElement):
                break
            if isinstance(one.value, cst.Name) and (one, other) not in found:
                found.append((one, other))
    return found


def _without(
    assign: cst.Assign, target: cst.Tuple, value: cst.Tuple, pairs: list[_Pair]
) -> cst.Assign | None:
    targets = [e for e in target.elements if all(e is not t for t, _ in pairs)]
    values = [e for e in value.elements if all(e is not v for _, v in pairs)]
    if not targets:
        return None
    left: cst.BaseExpression = _tuple(target, targets)
    right: cst.BaseExpression = _tuple(value, values)
    if len(values) == 1 and isinstance(values[0], cst.StarredElement):
        right = values[0].value
    elif len(targets) == len(values) == 1 and not isinstance(targets[0], cst.StarredElement):
        left, right = targets[0].value, values[0].value
    changed = assign.targets[0].with_changes(target=left)
    return assign.with_changes(targets=[changed], value=right)


def _tuple(tuple_: cst.Tuple, elements: list[cst.BaseElement]) -> cst.Tuple:
    if len(elements) > 1:
        elements[-1] = elements[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return tuple_.with_changes(elements=elements)
