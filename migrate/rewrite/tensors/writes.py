"""What a statement changes: in-place results rebound, settings and parameters written so that it
counts, elements taken with a step.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.plan.no_gradient import is_decorated, without_gradient
from migrate.resolve.values import PARAMETER, is_tensor
from migrate.rewrite.calls.call import Refusal
from migrate.rewrite.calls.call_context import is_data, subscripted
from migrate.rewrite.cells.buffers import replaced_parameter
from migrate.rewrite.statements.statement_forms import (
    is_computed,
    without_effect,
    written_attribute,
)
from migrate.rewrite.statements.suites import (
    assigns_itself,
)
from migrate.rewrite.tensors.aliases import alias_could_see, is_callers, is_held, is_loop_target
from migrate.rewrite.tensors.bitwise_not import is_boolean
from migrate.rewrite.tensors.integer_indices import (
    index_tuples,
    read_integers_first,
    write_integers_first,
)
from migrate.rewrite.tensors.masked_writes import MaskedWrites, is_made_here
from migrate.rewrite.tensors.maybe_parameter import may_be_plain
from migrate.rewrite.tensors.returned_params import is_given_back
from migrate.rewrite.tensors.slice_augadd import part_sum
from migrate.rewrite.tensors.stateful_attrs import old_values
from migrate.rewrite.tensors.strided_slices import with_gathered_steps
from migrate.syntax.nodes import atomic, expression, fill
from migrate.syntax.text import code


class WriteRewriter(MaskedWrites):
    """Rewrites assignments and calls that change something."""

    _index_tuples: dict[tuple[int, int], ast.Tuple] | None = None

    def leave_Expr(
        self, original_node: cst.Expr, updated_node: cst.Expr
    ) -> cst.BaseSmallStatement | cst.RemovalSentinel:
        value = updated_node.value
        if id(value) in self.vanished:
            return cst.RemoveFromParent()
        if id(self.bare(value)) in self.assignments:
            return self.assignments[id(self.bare(value))]
        if self.bare(value) is not value and id(value) not in self.changed_in_place:
            return updated_node.with_changes(value=self.bare(value))
        if id(value) not in self.changed_in_place:
            return updated_node
        changed, place, usage = self.changed_in_place.pop(id(value))
        if self.is_parameter(place):
            if isinstance(changed, cst.Name) and may_be_plain(place, self.function, self.context):
                function = cst.parse_expression(self.spelling.name("helpers.changed_in_place"))
                new = cst.Call(func=function, args=[cst.Arg(changed), cst.Arg(self.bare(value))])
                return cst.Assign(targets=[cst.AssignTarget(changed)], value=new)
            return updated_node.with_changes(value=self._assigned(changed, value))
        if self._is_item(place):
            return updated_node.with_changes(value=self._set_value(changed, value))
        if isinstance(changed, cst.Name | cst.Subscript):
            self.flag_aliases(place, code(changed), usage.api if usage else "")
            return cst.Assign(targets=[cst.AssignTarget(changed)], value=value)
        if isinstance(changed, cst.Attribute):
            return cst.Assign(targets=[cst.AssignTarget(changed)], value=value)
        # The receiver is a value nobody else holds: changing it has no effect that anyone sees.
        self.flag(
            place,
            Refusal(
                "changes a temporary value in place",
                "assign the result to the tensor that is meant",
                "MS403",
            ),
            usage.api if usage else "",
        )
        return updated_node

    def flag_aliases(self, place: ast.expr, name: str, api: str) -> None:
        """Report a change in place that another name of the same tensor would show in torch."""
        seen = alias_could_see(place, self.around())
        if seen:
            reason = f"changes {name} in place, and {seen} could see it"
            step = "copy the value first, or use the result"
            self.flag(place, Refusal(reason, step, "MS403"), api)

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        self._flag_lost_changes()
        self._flag_shared_parts(self.partner(original_node.body[0]) if original_node.body else None)
        return super().leave_SimpleStatementLine(original_node, updated_node)

    def _flag_shared_parts(self, statement: ast.AST | None) -> None:
        """`row[0] = 1` for a row of x: compiled code changes the row alone."""
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        for target in targets:
            root = target
            while isinstance(root, ast.Subscript):
                root = root.value
            if root is not target and is_tensor(self.context.type(root)):
                self.flag_aliases(target, ast.unparse(target), "")

    def _flag_lost_changes(self) -> None:
        """`y = 1 + relu_(x)`: what no statement has rebound is lost to those who read it later."""
        for _, place, usage in self.changed_in_place.values():
            kept = isinstance(place, ast.Attribute) or self._is_item(place)
            if kept or self.is_read_later(place):
                reason = f"changes {ast.unparse(place)} in place in the middle of an expression"
                step = f"write {ast.unparse(place)} = ... on a line before"
                self.flag(place, Refusal(reason, step, "MS403"), usage.api if usage else "")
        self.changed_in_place.clear()

    def _is_item(self, place: ast.expr) -> bool:
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
            is_loop_target(place, around)
            or is_held(place, around)
            or self._is_callers_tensor(place)
        )

    def _is_callers_tensor(self, place: ast.Name) -> bool:
        function = self.function
        stops = is_decorated(function, self.context) or any(
            isinstance(node, ast.With)
            and without_gradient(node, self.context)
            and any(part is place for part in ast.walk(node))
            for node in ast.walk(function or ast.Module([], []))
        )
        return is_callers(place, function, stops) and not self.is_compiled(function)

    def _set_value(self, changed: cst.BaseExpression, value: cst.BaseExpression) -> cst.Call:
        function = expression(self.spelling.name("helpers.set_value"))
        bare = value if isinstance(value, cst.Tuple) else value.with_changes(lpar=[], rpar=[])
        return cst.Call(func=function, args=[cst.Arg(changed), cst.Arg(bare)])

    def leave_Assign(
        self, original_node: cst.Assign, updated_node: cst.Assign
    ) -> cst.BaseSmallStatement | cst.RemovalSentinel:
        masked = self.written_by_mask(original_node, updated_node) or self._integers_first(
            original_node, updated_node
        )
        if masked is not None:
            return masked
        value = updated_node.value
        if id(value) in self.changed_in_place:
            changed, place, usage = self.changed_in_place.pop(id(value))
            self.flag_aliases(place, code(changed), usage.api if usage else "")
            targets = [code(target.target) for target in updated_node.targets]
            if (
                isinstance(changed, cst.Name | cst.Attribute)
                and code(changed) not in targets
                and self.is_read_later(place)
            ):
                extra = cst.AssignTarget(changed)
                return updated_node.with_changes(targets=[*updated_node.targets, extra])
        if id(value) in self.vanished:
            return updated_node
        if self.bare(value) is not value:
            updated_node = updated_node.with_changes(value=self.bare(value))
        if len(updated_node.targets) == 1:
            target = updated_node.targets[0].target
            if self._replaces_parameter(original_node, target):
                assert isinstance(target, cst.Attribute)
                assert isinstance(updated_node.value, cst.Call)
                return replaced_parameter(target, updated_node.value, self.spelling)
        if isinstance(updated_node.targets[0].target, cst.Attribute) and self._sets_data(
            original_node
        ):
            self.context.ported += 1
            return self._set_data(updated_node)
        target = updated_node.targets[0].target
        if id(original_node) in self.written and isinstance(target, cst.Attribute):
            self.context.ported += 1
            parts = {"self": target.value, "value": updated_node.value}
            return cst.Expr(fill(self.written[id(original_node)], parts, self.spelling.name))
        new = updated_node is not original_node
        if new and assigns_itself(updated_node) and not assigns_itself(original_node):
            return cst.RemoveFromParent()  # x = x.to(device)
        partner = self.partner(original_node)
        if isinstance(partner, ast.Assign) and all(map(self._is_dropped_setting, partner.targets)):
            self.context.ported += 1
            return cst.RemoveFromParent()
        return updated_node

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        new = super().leave_Attribute(original_node, updated_node)
        if not self.stateful or id(self.partner(original_node)) not in self._old_values():
            return new
        return cst.Call(func=cst.Attribute(value=atomic(new), attr=cst.Name("copy")))

    def _old_values(self) -> set[int]:
        key = id(self.function)
        if key not in self._read_before:
            names = set(self.stateful.values()) - self.plain_buffers
            self._read_before[key] = old_values(self.function, self.context, names)
        return self._read_before[key]

    def _replaces_parameter(self, original: cst.Assign, target: cst.BaseExpression) -> bool:
        """`layer.weight = nn.Parameter(...)`, from outside the layer."""
        partner = self.partner(original)
        assert isinstance(partner, ast.Assign)
        return (
            isinstance(target, cst.Attribute)
            and code(target.value) != "self"
            and isinstance(partner.value, ast.Call)
            and self.context.type(partner.value) is PARAMETER
            and self.context.usage(partner.value.func) is not None
        )

    def _sets_data(self, node: cst.Assign) -> bool:
        """`p.data = value`, where p is a tensor or may be one."""
        target = node.targets[0].target
        return (
            len(node.targets) == 1
            and is_data(target)
            and self.context.usage(self.partner(target)) is not None
        )

    def _set_data(self, node: cst.Assign) -> cst.Expr:
        target = node.targets[0].target
        # The row for .data may have written more around it; the tensor itself is meant here.
        owner = target.value if isinstance(target, cst.Attribute) else target
        return cst.Expr(self._assigned(owner, node.value))

    def _assigned(self, parameter: cst.BaseExpression, value: cst.BaseExpression) -> cst.Call:
        """ops.assign and not set_data: after that, optimizers and compiled steps go on with the old
        memory.
        """
        function = expression(self.spelling.name("mindspore.ops.assign"))
        bare = value if isinstance(value, cst.Tuple) else value.with_changes(lpar=[], rpar=[])
        return cst.Call(func=function, args=[cst.Arg(parameter), cst.Arg(bare)])

    def visit_Assign(self, node: cst.Assign) -> None:
        super().visit_Assign(node)
        partner = self.partner(node)
        assert isinstance(partner, ast.Assign)
        for target, place in zip(node.targets, partner.targets, strict=True):
            self._note_targets(target.target)
            self._flag_settings_among(place, target.target)
            form = self._form_of_writing(place)
            if form and len(node.targets) == 1:
                self.written[id(node)] = form
            if is_data(target.target) or self._is_dropped_setting(place) or form:
                self._raw_targets.add(id(target.target))
            if isinstance(target.target, cst.Subscript) and is_data(subscripted(target.target)):
                # `w.data[0] = 1` changes w, not a copy of it without gradient.
                self._raw_data.add(id(subscripted(target.target)))

    def _flag_settings_among(self, place: ast.expr, target: cst.BaseExpression) -> None:
        """`m.stride, m.padding = 1, 0`: each needs a form of its own, and so a line."""
        self._keep_computed(place, target)
        if not isinstance(place, ast.Tuple | ast.List):
            return
        assert isinstance(target, cst.Tuple | cst.List)
        for part, element in zip(place.elts, target.elements, strict=True):
            self._keep_computed(part, element.value)
            if self._form_of_writing(part):
                self.flag(part, without_effect(part, "assign each on a line of its own"))

    def _keep_computed(self, place: ast.expr, target: cst.BaseExpression) -> None:
        if is_computed(place, self.context):
            self._raw_targets.add(id(target))

    def _form_of_writing(self, place: ast.expr) -> str:
        try:
            return written_attribute(place, self.context)
        except Refusal as refusal:
            self.flag(place, refusal)
            return ""

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        super().visit_AugAssign(node)
        self._raw_data |= {id(part) for part in [subscripted(node.target)] if is_data(part)}
        self._note_targets(node.target)
        partner = self.partner(node)
        if isinstance(partner, ast.AugAssign):
            self._keep_computed(partner.target, node.target)
            if self._form_of_writing(partner.target):
                self.flag(partner.target, without_effect(partner.target))

    def _is_dropped_setting(self, place: ast.expr) -> bool:
        """`torch.backends.cudnn.benchmark = True`: a switch that MindSpore does not have."""
        usage = self.context.usage(place)
        entry = self.table.get(usage.api) if usage else None
        if usage is None or entry is None or not self._is_library_path(usage.node):
            return False
        return entry.main.emit == "None" or "remove_statement" in entry.main.rules

    def is_read_later(self, place: ast.expr) -> bool:
        return alias_could_see(place, self.around(), only_later_reads=True) != ""

    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        if updated_node.value is None:
            return updated_node
        value = updated_node.value
        changed, place, _ = self.changed_in_place.pop(id(value), (None, None, None))
        if changed is not None and isinstance(place, ast.Name) and self._is_callers_tensor(place):
            return updated_node.with_changes(value=self._set_value(changed, value))
        bare = self.bare(updated_node.value)
        return updated_node if bare is updated_node.value else updated_node.with_changes(value=bare)

    def leave_AugAssign(
        self, original_node: cst.AugAssign, updated_node: cst.AugAssign
    ) -> cst.AugAssign | cst.Assign | cst.Expr:
        masked = self.written_by_mask(original_node, updated_node) or self._integers_first(
            original_node, updated_node
        )
        if masked is not None:
            return masked
        partner = self.partner(original_node)
        if isinstance(partner, ast.AugAssign) and self._is_own_part(partner.target):
            helper = self.spelling.name("helpers.add_to_part")
            part = part_sum(partner.target, updated_node, helper)
            if part is not None:
                return part
        sign = code(updated_node.operator).strip().rstrip("=")
        if (
            not isinstance(partner, ast.AugAssign)
            or not isinstance(partner.target, ast.Name)
            or not is_tensor(self.context.type(partner.target))
        ):
            return updated_node
        if self._is_item(partner.target):
            left = updated_node.target
            new = expression(f"{code(left)} {sign} (_)")
            assert isinstance(new, cst.BinaryOperation)
            right = atomic(updated_node.value)
            return cst.Expr(self._set_value(left, new.with_changes(right=right)))
        seen = alias_could_see(partner.target, self.around())
        if seen:
            name = partner.target.id
            reason = f"changes {name} in place in torch, which {seen} could see"
            step = f"write {name} = {name} ... if nothing relies on it"
            self.flag(partner, Refusal(reason, step, "MS403"))
        inner = id(self.function) not in self.context.forwards and self.is_compiled(self.function)
        if inner and is_given_back(partner.target.id, self.function):
            # To the compiler `x += y` of a parameter is an assignment to the caller's tensor.
            written = expression(f"{partner.target.id} {sign} (_)")
            assert isinstance(written, cst.BinaryOperation)
            value = written.with_changes(right=atomic(updated_node.value))
            return cst.Assign([cst.AssignTarget(updated_node.target)], value)
        return updated_node

    def _is_own_part(self, target: ast.expr) -> bool:
        """A part of a tensor that nobody else sees, or that the function gives back."""
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            return False
        name = target.value.id
        return (
            is_tensor(self.context.type(target.value))
            and (is_made_here(name, self.function) or is_given_back(name, self.function))
            and self.is_compiled(self.function)
            and not alias_could_see(target, self.function)
        )

    def _note_targets(self, target: cst.BaseExpression) -> None:
        if isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self._note_targets(element.value)
        elif isinstance(target, cst.Subscript):
            self.targets.add(id(target))

    def leave_Subscript(
        self, original_node: cst.Subscript, updated_node: cst.Subscript
    ) -> cst.BaseExpression:
        inner = self.partner(subscripted(original_node))
        if id(original_node) in self.targets or not is_tensor(self.context.type(inner)):
            return super().leave_Subscript(original_node, updated_node)
        index = self._index_of(original_node) if len(updated_node.slice) > 1 else None
        if index is not None:
            first = read_integers_first(index, updated_node, self.context, self.spelling)
            if first is not None:
                return first
        return with_gathered_steps(updated_node, self.spelling) or updated_node

    def _index_of(self, node: cst.Subscript) -> ast.Tuple | None:
        if self._index_tuples is None:
            scope = self.context.resolution.scope
            self._index_tuples = index_tuples(scope.tree) if scope else {}
        depth, leaf = 0, node.value
        while isinstance(leaf, cst.Subscript):
            depth, leaf = depth + 1, leaf.value
        return self._index_tuples.get((id(self.partner(leaf)), depth))

    def _integers_first(
        self, original: cst.Assign | cst.AugAssign, updated: cst.Assign | cst.AugAssign
    ) -> cst.Assign | None:
        """`x[0, :, rows] = y`, where the integer is taken before the index tensor."""
        partner = self.partner(original)
        goal: ast.expr | None = None
        if isinstance(partner, ast.AugAssign):
            goal = partner.target
        elif isinstance(partner, ast.Assign) and len(partner.targets) == 1:
            goal = partner.targets[0]
        place = updated.targets[0].target if isinstance(updated, cst.Assign) else updated.target
        if not isinstance(goal, ast.Subscript) or not isinstance(place, cst.Subscript):
            return None
        if not is_tensor(self.context.type(goal.value)):
            return None
        return write_integers_first(goal.slice, place, updated, self.context, self.spelling)

    def leave_UnaryOperation(
        self, original_node: cst.UnaryOperation, updated_node: cst.UnaryOperation
    ) -> cst.BaseExpression:
        partner = self.partner(original_node)
        if (
            not isinstance(partner, ast.UnaryOp)
            or not is_tensor(self.context.type(partner.operand))
            or is_boolean(partner.operand, self.function)
        ):
            return updated_node
        if self.spelling.mint:
            name = self.spelling.name("mindspore.mint.bitwise_not")
        else:
            name = self.spelling.name("helpers.bitwise_not")
        return cst.Call(func=expression(name), args=[cst.Arg(self.bare(updated_node.expression))])
