"""Write the ends of gradients: ops.stop_gradient around the values of a statement."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.flow.grad_mode import Cut
from migrate.pipeline.context import Context
from migrate.resolve.members import is_module_value
from migrate.resolve.values import (
    UNKNOWN,
    Instance,
    Known,
    ListOf,
    TupleOf,
    Value,
    is_tensor,
    options_of,
)
from migrate.syntax.access import attribute_of
from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

# Names and members only pass a value on: torch records what computes.
_PASSED_ON = (cst.Name, cst.Attribute, cst.SimpleString, cst.Integer, cst.Float, cst.Lambda)
_TEXTS = (cst.FormattedString, cst.ConcatenatedString, cst.Comparison)


class CutWriter:
    """Rewrites one small statement after another."""

    def __init__(self, context: Context, spelling: ImportPlanner) -> None:
        self.context, self.spelling = context, spelling
        self._passed_on: tuple[type[cst.CSTNode], ...] = _PASSED_ON

    def cut(self, small: cst.BaseSmallStatement, cut: Cut) -> cst.BaseSmallStatement:
        """The statement, with nothing that carries a gradient in what it hands on."""
        old = getattr(cut.statement, "value", None)
        if cut.only_results and _binds_locals(cut.statement):
            return small
        # Where locals are not cut one by one, what hands them on is.
        self._passed_on = _PASSED_ON[1:] if cut.only_results else _PASSED_ON
        if isinstance(small, (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Return)):
            if small.value is None:
                return small
            return small.with_changes(value=self._value(small.value, old, cut.unless))
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
            if _assigns(small.value, cut.statement):
                return small
            return small.with_changes(value=self._arguments(small.value, old, cut.unless))
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Yield):
            held = small.value.value
            if isinstance(held, cst.BaseExpression):
                new = self._value(held, getattr(old, "value", None), cut.unless)
                return small.with_changes(value=small.value.with_changes(value=new))
        return small

    def _arguments(self, call: cst.Call, old: ast.AST | None, unless: str) -> cst.Call:
        given = old.args if isinstance(old, ast.Call) else []
        args = [
            arg.with_changes(
                value=self._value(arg.value, given[i] if i < len(given) else None, unless)
            )
            if arg.keyword is None and not arg.star
            else arg
            for i, arg in enumerate(call.args)
        ]
        return call.with_changes(args=args)

    def _value(
        self, value: cst.BaseExpression, old: ast.AST | None, unless: str
    ) -> cst.BaseExpression:
        if isinstance(value, (*self._passed_on, *_TEXTS)):
            return value
        if isinstance(value, (cst.Tuple, cst.List)):
            elts = getattr(old, "elts", [])
            elements = [
                one.with_changes(value=self._value(one.value, part, unless))
                if isinstance(one, cst.Element)
                else one
                for one, part in _paired(value.elements, elts)
            ]
            return value.with_changes(elements=elements)
        if isinstance(value, cst.Dict):
            parts = getattr(old, "values", [])
            entries = [
                one.with_changes(value=self._value(one.value, part, unless))
                if isinstance(one, cst.DictElement)
                else one
                for one, part in _paired(value.elements, parts)
            ]
            return value.with_changes(elements=entries)
        return self._stopped(value, old, unless)

    def _stopped(
        self, value: cst.BaseExpression, old: ast.AST | None, unless: str
    ) -> cst.BaseExpression:
        listed = old.elt if isinstance(old, (ast.ListComp, ast.GeneratorExp)) else old
        kind = self.context.type(listed) if isinstance(listed, ast.expr) else UNKNOWN
        if not _may_hold_tensors(kind) or _is_number(listed):
            return value
        bare = value.with_changes(lpar=[], rpar=[]) if getattr(value, "lpar", None) else value
        if is_tensor(kind) and listed is old and not unless:
            stop = self.spelling.name("mindspore.ops.stop_gradient")
            return expression(f"{stop}({code(bare)})")
        stop = self.spelling.name("helpers.stop_gradients")
        rest = f", unless={unless}" if unless else ""
        return expression(f"{stop}({code(bare)}{rest})")


_NUMBERS = ("item", "tolist", "numpy", "size", "dim", "numel", "nelement")
_CONVERSIONS = ("int", "float", "bool", "len", "str", "range", "round")


def _is_number(node: ast.AST | None) -> bool:
    """`loss.item() * 100.0`, `len(x)`: written so that it is no tensor, whatever x is."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in _CONVERSIONS
    return attribute_of(node.func) in _NUMBERS


def _assigns(call: cst.Call, statement: ast.stmt) -> bool:
    """`p.data = value`, written as ops.assign(p, value): a Parameter takes values alone."""
    return not isinstance(statement, ast.Expr) and code(call.func).endswith(".assign")


def _binds_locals(statement: ast.stmt) -> bool:
    """Of a decorated function, local values end with it."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return False
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    return not any(isinstance(one, (ast.Attribute, ast.Subscript)) for one in targets)


def _paired(
    elements: object, old: list[ast.expr]
) -> list[tuple[cst.BaseElement | cst.BaseDictElement, ast.expr | None]]:
    found = list(elements)  # type: ignore[call-overload]
    parts: list[ast.expr | None] = [*old] if len(old) == len(found) else [None] * len(found)
    return list(zip(found, parts, strict=True))


def _may_hold_tensors(kind: Value) -> bool:
    """Not numbers, texts and modules."""
    if kind is UNKNOWN or is_tensor(kind):
        return True
    if is_module_value(kind) or isinstance(kind, Known):
        return False
    if isinstance(kind, ListOf):
        return _may_hold_tensors(kind.item)
    if isinstance(kind, TupleOf):
        return any(map(_may_hold_tensors, kind.items))
    return not all(
        isinstance(option, Known)
        or (isinstance(option, Instance) and str(option.cls).startswith("builtins."))
        for option in options_of(kind)
    )
