"""`~x`: a logical not in MindSpore whatever x holds, in torch only for booleans."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import libcst as cst

from migrate.pipeline import becomes, declare, same
from migrate.resolve.values import is_tensor
from migrate.rewrite.effects import Effects
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.nodes import expression

_GIVE_BOOLEANS = re.compile(
    r"eq|ne|gt|ge|lt|le|not_equal|greater|greater_equal|less|less_equal|logical_\w+|is[a-z]\w*"
    r"|bool|any|all|signbit"
)
# Methods that keep what they are given, in another shape or place.
_KEEP = re.compile(
    r"t|to|cpu|cuda|view|view_as|reshape|expand|expand_as|repeat|tile|squeeze|unsqueeze|flatten"
    r"|transpose|permute|contiguous|clone|detach|roll|flip|tril|triu|index_select|gather|narrow"
    r"|cat|stack|broadcast_to|chunk|split|unbind|type_as"
)
# What people call a tensor of yes and no.
_NAMED_SO = re.compile(r"(.*_)?(mask|masks|valid|invalid|done|dones|finished)_?\d*")
_DEPTH = 6


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    examples=[
        becomes("x = ~x", "x = helpers.bitwise_not(x)"),
        same("x = ~(x > 0)"),
    ],
)
class BitwiseNot(NodePass):
    """Writes the function, unless the operand is surely boolean."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)

    def propose_UnaryOperation(
        self, original: cst.UnaryOperation, updated: cst.UnaryOperation
    ) -> cst.BaseExpression | None:
        partner = self.partner(original)
        if (
            not isinstance(partner, ast.UnaryOp)
            or not is_tensor(self.context.type(partner.operand))
            or is_boolean(partner.operand, self.function)
        ):
            return None
        if self.spelling.mint:
            name = self.spelling.name("mindspore.mint.bitwise_not")
        else:
            name = self.spelling.name("helpers.bitwise_not")
        operand = self._effects.bare(updated.expression)
        return cst.Call(func=expression(name), args=[cst.Arg(operand)])


def is_boolean(node: ast.expr, around: ast.AST | None, depth: int = 0) -> bool:
    """Whether an expression is a tensor of booleans, as far as its own function tells."""
    if depth > _DEPTH:
        return False

    def again(part: ast.expr) -> bool:
        return is_boolean(part, around, depth + 1)

    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Invert) and again(node.operand)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor)) and (
            again(node.left) or again(node.right)
        )
    if isinstance(node, ast.Subscript):
        return again(node.value)
    if isinstance(node, ast.Call):
        return _call(node, again)
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = node.id if isinstance(node, ast.Name) else node.attr
        values = _assigned(ast.unparse(node), around)
        return _NAMED_SO.fullmatch(name) is not None or (bool(values) and all(map(again, values)))
    return False


def _call(node: ast.Call, again: Callable[[ast.expr], bool]) -> bool:
    if any("bool" in ast.unparse(part) for part in (*node.args, *(k.value for k in node.keywords))):
        return True  # .to(torch.bool), zeros(n, dtype=torch.bool)
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if _GIVE_BOOLEANS.fullmatch(name):
        return True
    if not _KEEP.fullmatch(name):
        return False
    subjects = [*node.args[:1]]
    if isinstance(function, ast.Attribute) and not _is_module(function.value):
        subjects = [function.value]
    if subjects and isinstance(subjects[0], (ast.List, ast.Tuple)):
        subjects = subjects[0].elts[:1]
    return any(again(subject) for subject in subjects)


def _is_module(node: ast.expr) -> bool:
    return name_of(node) in ("torch", "F")


def _assigned(text: str, around: ast.AST | None) -> list[ast.expr]:
    """All that a function gives a name."""
    found: list[ast.expr] = []
    for part in all_nodes(around) if around is not None else ():
        if isinstance(part, ast.Assign) and any(ast.unparse(t) == text for t in part.targets):
            found.append(part.value)
    return found
