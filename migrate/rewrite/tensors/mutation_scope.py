"""Who sees a tensor that is changed in place: other names, callers, whoever holds it."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline.refusal import Refusal
from migrate.plan.no_gradient import is_decorated, without_gradient
from migrate.rewrite.node_pass import FileAccess
from migrate.rewrite.tensors.aliases import alias_could_see, is_callers, is_held, is_loop_target
from migrate.syntax.nodes import expression


class MutationScope(FileAccess):
    """Asked where a statement stands."""

    def flag_aliases(self, place: ast.expr, name: str, api: str) -> None:
        """Report a change in place that another name of the same tensor would show in torch."""
        seen = alias_could_see(place, self.file.around())
        if seen:
            reason = f"changes {name} in place, and {seen} could see it"
            step = "copy the value first, or use the result"
            self.flag(place, Refusal(reason, step, "MS403"), api)

    def is_read_later(self, place: ast.expr) -> bool:
        return alias_could_see(place, self.file.around(), only_later_reads=True) != ""

    def is_item(self, place: ast.expr) -> bool:
        """The name of a loop over tensors or of a dict's tensor: whoever holds it must see it
        change.
        """
        if not isinstance(place, ast.Name) or id(self.function) in self.context.forwards:
            return False
        scope = self.context.resolution.scope
        around = self.function or (scope.tree if scope else None)
        if around is None:
            return False
        return (
            is_loop_target(place, around) or is_held(place, around) or self.is_callers_tensor(place)
        )

    def is_callers_tensor(self, place: ast.Name) -> bool:
        function = self.function
        stops = is_decorated(function, self.context) or any(
            isinstance(node, ast.With)
            and without_gradient(node, self.context)
            and any(part is place for part in ast.walk(node))
            for node in ast.walk(function or ast.Module([], []))
        )
        return is_callers(place, function, stops) and not self.is_compiled(function)

    def set_value(self, changed: cst.BaseExpression, value: cst.BaseExpression) -> cst.Call:
        function = expression(self.spelling.name("helpers.set_value"))
        bare = value if isinstance(value, cst.Tuple) else value.with_changes(lpar=[], rpar=[])
        return cst.Call(func=function, args=[cst.Arg(changed), cst.Arg(bare)])
