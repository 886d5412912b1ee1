"""How a change in place is written where a statement stands."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline.refusal import Refusal
from migrate.resolve import Usage
from migrate.rewrite.effects import Effects
from migrate.rewrite.node_pass import FileAccess, FileRewrite
from migrate.rewrite.tensors.aliases import is_read_later
from migrate.rewrite.tensors.in_place import (
    THROUGH,
    Form,
    in_place_form,
    is_gradient,
    is_held_item,
    keeps_dtype,
    shares_memory,
)
from migrate.syntax.nodes import atomic, expression
from migrate.syntax.text import code


class MutationScope(FileAccess):
    """Asked where a statement stands."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)

    def form(self, place: ast.expr, usage: Usage | None = None) -> Form:
        """How a change of the place is written; flagged where that is not known."""
        self.context.edited_lines.add(place.lineno)
        compiled = self.is_compiled(self.function)
        if not compiled and (
            is_held_item(place, self.context)
            or (isinstance(place, ast.Attribute) and not is_gradient(place))
            or (isinstance(place, ast.Call) and shares_memory(place, self.context))
        ):
            return THROUGH
        form = in_place_form(place, self.context, compiled=compiled)
        if form.after and self._effects.in_line:
            self._effects.lines_after += form.after
        elif form.after:
            form = Form("flag", seen_by="a view of the same memory")
        if form.kind == "flag" and not isinstance(place, ast.Call):
            self._flag_seen(place, form.seen_by, usage.api if usage else "")
        return form

    def outlives_return(self, place: ast.expr, usage: Usage | None) -> bool:
        """`return self.counts[i].add_(1)`: someone sees the change when the function is done."""
        if self.form(place, usage).kind == "through":
            return True
        root = place
        while isinstance(root, ast.Subscript):
            root = root.value
        if root is place or not isinstance(root, ast.Attribute):
            return False
        if self.is_compiled(self.function):
            self._flag_seen(place, ast.unparse(root), usage.api if usage else "")
        return True

    def flag_aliases(self, place: ast.expr, api: str = "") -> None:
        """Report a change that another name would show in torch, where it cannot be rebound."""
        form = in_place_form(place, self.context, compiled=self.is_compiled(self.function))
        if form.after and not form.names and self._effects.in_line:
            self._effects.lines_after += form.after
        elif form.kind == "flag" or form.names or form.after:
            self._flag_seen(place, form.seen_by or (*form.names, "a view of it")[0], api)

    def _flag_seen(self, place: ast.expr, seen_by: str, api: str) -> None:
        reason = f"changes {ast.unparse(place)} in place in torch, which {seen_by} could see"
        step = "copy the value first, or use the result"
        self.flag(place, Refusal(reason, step, "MS403"), api)

    def is_read_later(self, place: ast.expr) -> bool:
        return is_read_later(place, self.context)

    def set_value(self, changed: cst.BaseExpression, value: cst.BaseExpression) -> cst.Call:
        function = expression(self.spelling.name("helpers.set_value"))
        bare = value if isinstance(value, cst.Tuple) else value.with_changes(lpar=[], rpar=[])
        return cst.Call(func=function, args=[cst.Arg(changed), cst.Arg(bare)])

    def of_left_dtype(
        self, place: ast.expr, value: cst.BaseExpression, right: ast.expr | None = None
    ) -> cst.BaseExpression:
        """torch's in-place operations keep the dtype of what they change."""
        if right is None:
            call = self._call_of(place)
            right = call.args[0] if call is not None and call.args else None
        if not keeps_dtype(place, right, self.context):
            return value
        bare = value.with_changes(lpar=[], rpar=[])
        inner = value if isinstance(value, cst.Call) else atomic(bare)
        return expression(f"{code(inner)}.astype({ast.unparse(place)}.dtype)")

    def _call_of(self, place: ast.expr) -> ast.Call | None:
        """`x.add_(y)` of the x in it."""
        flow = self.context.flow.around(place)
        statement = flow.cfg.statement_of(place) if flow is not None else None
        call = getattr(statement, "value", None)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            return call if call.func.value is place else None
        return None
