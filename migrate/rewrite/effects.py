"""What expressions leave to the statements around them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

import libcst as cst

from migrate.resolve import Usage
from migrate.rewrite.node_pass import FileRewrite
from migrate.syntax.nodes import atomic


@dataclass(slots=True)
class Change:
    """A change in place: the rewritten tensor, where it stands in the source, and by which API."""

    tensor: cst.BaseExpression
    place: ast.expr
    usage: Usage | None = None


# A name and its value, or a statement that is written already.
HoistedLine = tuple[str, cst.BaseExpression] | cst.BaseSmallStatement


@dataclass(slots=True)
class Effects:
    """Facts about new nodes, by node."""

    file: FileRewrite
    removed: set[cst.CSTNode] = field(default_factory=set)  # stand for calls without effect
    # Calls that are written as assignments.
    assignments: dict[cst.CSTNode, cst.Assign] = field(default_factory=dict)
    in_place: dict[cst.BaseExpression, Change] = field(default_factory=dict)
    # Original nodes: `p.data = ...`, which becomes ops.assign, and `.data` before an in-place
    # change, where the tensor itself is meant.
    raw_targets: set[cst.CSTNode] = field(default_factory=set)
    raw_data: set[cst.CSTNode] = field(default_factory=set)
    subscript_targets: set[cst.CSTNode] = field(default_factory=set)  # original, assigned to
    # Copies that stand for slices with a step -> the slice, which can be written to.
    gathered: dict[cst.CSTNode, cst.Subscript] = field(default_factory=dict)
    # Lines in front of the statement in hand.
    lines: list[HoistedLine] = field(default_factory=list)
    lines_after: list[str] = field(default_factory=list)  # and behind it
    in_line: bool = False  # inside a simple statement, which can have such lines
    _bare: dict[cst.CSTNode, cst.BaseExpression] = field(default_factory=dict)

    def wrapped(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """Fit to stand in a larger expression; `bare` takes the parentheses off again."""
        safe = atomic(node)
        if safe is not node:
            self._bare[safe] = node
        return safe

    def bare(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """Without the parentheses that only a larger expression would need."""
        return self._bare.get(node, node)
