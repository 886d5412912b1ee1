"""What a statement changes: in-place results rebound, settings and parameters written so that it
counts.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare, flags
from migrate.pipeline.refusal import Refusal
from migrate.resolve.values import PARAMETER, is_tensor
from migrate.rewrite.calls.call_sites import CallSites
from migrate.rewrite.cells.buffers import replaced_parameter
from migrate.rewrite.effects import Change, Effects
from migrate.rewrite.names.library_names import LibraryNames
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.statements.statement_forms import (
    is_computed,
    without_effect,
    written_attribute,
)
from migrate.rewrite.statements.suites import (
    assigns_itself,
)
from migrate.rewrite.tensors.augmented_targets import changes_tensor, is_own_part, may_be_number
from migrate.rewrite.tensors.changed_statements import ChangedStatements
from migrate.rewrite.tensors.in_place import (
    THROUGH,
    keeps_dtype,
)
from migrate.rewrite.tensors.maybe_parameter import may_be_plain
from migrate.rewrite.tensors.mutation_scope import MutationScope
from migrate.rewrite.tensors.returned_params import is_returned
from migrate.rewrite.tensors.slice_augadd import slice_augadd
from migrate.rewrite.tensors.stateful_attrs import old_values
from migrate.rewrite.tensors.write_forms import (
    assign_targets,
    assigned,
    augmented,
    changed_in_place,
    operation,
)
from migrate.syntax.nodes import atomic, expression, fill
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages", "types", "aliases"],
    after={
        "step_calls": "a call of which only the receiver is left goes with its statement",
        "integer_indices": "a write to integers and index tensors has a form of its own",
        "indexed_view_writes": "a write by an index tensor to a view has a form of its own",
        "masked_writes": "a write by a mask has a form of its own in compiled code",
    },
    examples=[
        becomes("x.add_(y)", "x = x.add(y)"),
        becomes("z = x\nx.add_(y)\nx = x + z", "z = x\nx = z = x.add(y)\nx = x + z"),
        becomes("z = x[0]\nx.add_(y)\nx = x + z", "z = x[0]\nx = x.add(y)\nz = x[0]\nx = x + z"),
        flags(
            "z = x.diagonal()\nx.add_(y)\nx = x + z",
            "changes x in place in torch, which z (a view of the same memory) could see",
        ),
    ],
)
class Writes(NodePass):
    """Rewrites assignments and calls that change something."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)
        self._names = file.shared(LibraryNames)
        self._scope = file.shared(MutationScope)
        self._statements = file.shared(ChangedStatements)
        self._sites = file.shared(CallSites)
        self._settings: dict[cst.CSTNode, str] = {}  # `layer.eps = value` -> the row's form for it
        self._read_before: dict[ast.AST | None, set[ast.AST]] = {}  # reads of what changes later

    def _changes_argument(self, node: cst.Call) -> bool:
        """`dist.broadcast(p.data, 0)`: the row says that it changes its first argument."""
        usage = self.context.usage(getattr(self.partner(node), "func", None))
        entry = self.table.get(usage.api) if usage is not None else None
        return entry is not None and entry.inplace

    def visit_Call(self, node: cst.Call) -> None:
        """`w.data.add_(...)` changes w, not a copy of it without gradient."""
        name = (
            node.func.attr.value
            if isinstance(node.func, cst.Attribute)
            else getattr(node.func, "value", "")
        )
        named_so = isinstance(name, str) and name.endswith("_") and not name.startswith("_")
        if named_so or self._changes_argument(node):
            changed = [node.func.value] if isinstance(node.func, cst.Attribute) else []
            changed += [node.args[0].value] if node.args else []
            self._effects.raw_data |= self._sites.data_among(changed)

    def propose_Expr(
        self, original: cst.Expr, updated: cst.Expr
    ) -> cst.BaseSmallStatement | cst.RemovalSentinel:
        value = updated.value
        if value in self._effects.removed:
            return cst.RemoveFromParent()
        bare = self._effects.bare(value)
        if bare in self._effects.assignments:
            return self._effects.assignments[bare]
        change = self._effects.in_place.pop(value, None)
        if change is not None:
            return self._statements.written(change, value, updated)
        return updated if bare is value else updated.with_changes(value=bare)

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        self._flag_shared_parts(self.partner(original.body[0]) if original.body else None)
        return updated

    def _flag_shared_parts(self, statement: ast.AST | None) -> None:
        """`row[0] = 1` for a row of x: compiled code changes the row alone."""
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        for target in targets:
            root = target
            while isinstance(root, ast.Subscript):
                root = root.value
            if root is not target and is_tensor(self.context.type(root)):
                self._scope.flag_aliases(target)

    def _to_member(
        self, original: cst.Assign, updated: cst.Assign, target: cst.Attribute
    ) -> cst.BaseSmallStatement | None:
        """A write to a parameter, to the data of a tensor, or to a setting of a layer."""
        if len(updated.targets) == 1 and self._replaces_parameter(original, target):
            assert isinstance(updated.value, cst.Call)
            return replaced_parameter(target, updated.value, self.spelling)
        if self._sets_data(original):
            self.context.ported += 1
            return self._set_data(updated)
        if original not in self._settings:
            return None
        self.context.ported += 1
        parts = {"self": target.value, "value": updated.value}
        return cst.Expr(fill(self._settings[original], parts, self.spelling.name))

    def propose_Assign(
        self, original: cst.Assign, updated: cst.Assign
    ) -> cst.BaseSmallStatement | cst.RemovalSentinel:
        value = updated.value
        change = self._effects.in_place.pop(value, None)
        if change is not None:
            result = self._assigned_result(change, updated)
            if result is not None:
                return result
        if value in self._effects.removed:
            return updated
        if self._effects.bare(value) is not value:
            updated = updated.with_changes(value=self._effects.bare(value))
        target = updated.targets[0].target
        if isinstance(target, cst.Attribute):
            member = self._to_member(original, updated, target)
            if member is not None:
                return member
        new = updated is not original
        if new and assigns_itself(updated) and not assigns_itself(original):
            return cst.RemoveFromParent()  # x = x.to(device)
        partner = self.partner(original)
        if isinstance(partner, ast.Assign) and all(map(self._is_dropped_setting, partner.targets)):
            self.context.ported += 1
            return cst.RemoveFromParent()
        return updated

    def _assigned_result(self, change: Change, updated: cst.Assign) -> cst.Assign | None:
        """`y = x.add_(1)`: both names get the result, or x itself changes."""
        place = change.place
        changed = self._effects.gathered.get(change.tensor, change.tensor)
        form = self._scope.form(place, change.usage)
        targets = [code(target.target) for target in updated.targets]
        if form.kind == "through" and code(changed) not in targets:
            return updated.with_changes(value=self._scope.set_value(changed, updated.value))
        names = [name for name in form.names if name not in targets]
        own = isinstance(changed, (cst.Name, cst.Attribute)) and code(changed) not in targets
        extra = assign_targets(changed if own and self._scope.is_read_later(place) else None, names)
        return updated.with_changes(targets=[*updated.targets, *extra]) if own or extra else None

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        if not self._sites.stateful or self.partner(original) not in self._old_values():
            return updated
        return cst.Call(func=cst.Attribute(value=atomic(updated), attr=cst.Name("copy")))

    def _old_values(self) -> set[ast.AST]:
        key = self.function
        if key not in self._read_before:
            names = set(self._sites.stateful.values()) - self._sites.plain_buffers
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
            and self._sites.is_data(target)
            and self.context.usage(self.partner(target)) is not None
        )

    def _set_data(self, node: cst.Assign) -> cst.Expr:
        target = node.targets[0].target
        # The row for .data may have written more around it; the tensor itself is meant here.
        owner = target.value if isinstance(target, cst.Attribute) else target
        return cst.Expr(assigned(owner, node.value, self.spelling))

    def visit_Assign(self, node: cst.Assign) -> None:
        partner = self.partner(node)
        assert isinstance(partner, ast.Assign)
        for target, place in zip(node.targets, partner.targets, strict=True):
            self._flag_settings_among(place, target.target)
            form = self._form_of_writing(place)
            if form and len(node.targets) == 1:
                self._settings[node] = form
            if self._sites.is_data(target.target) or self._is_dropped_setting(place) or form:
                self._effects.raw_targets.add(target.target)
            if isinstance(target.target, cst.Subscript):
                # `w.data[0] = 1` changes w, not a copy of it without gradient.
                self._effects.raw_data |= self._sites.data_among([target.target])

    def _flag_settings_among(self, place: ast.expr, target: cst.BaseExpression) -> None:
        """`m.stride, m.padding = 1, 0`: each needs a form of its own, and so a line."""
        self._keep_computed(place, target)
        if not isinstance(place, (ast.Tuple, ast.List)):
            return
        assert isinstance(target, (cst.Tuple, cst.List))
        for part, element in zip(place.elts, target.elements, strict=True):
            self._keep_computed(part, element.value)
            if self._form_of_writing(part):
                self.flag(part, without_effect(part, "assign each on a separate line"))

    def _keep_computed(self, place: ast.expr, target: cst.BaseExpression) -> None:
        if is_computed(place, self.context):
            self._effects.raw_targets.add(target)

    def _form_of_writing(self, place: ast.expr) -> str:
        try:
            return written_attribute(place, self.context)
        except Refusal as refusal:
            self.flag(place, refusal)
            return ""

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._effects.raw_data |= self._sites.data_among([node.target])
        partner = self.partner(node)
        if isinstance(partner, ast.AugAssign):
            self._keep_computed(partner.target, node.target)
            if self._form_of_writing(partner.target):
                self.flag(partner.target, without_effect(partner.target))

    def _is_dropped_setting(self, place: ast.expr) -> bool:
        """`torch.backends.cudnn.benchmark = True`: a switch that MindSpore does not have."""
        usage = self.context.usage(place)
        entry = self.table.get(usage.api) if usage else None
        if usage is None or entry is None or not self._names.is_library_path(usage.node):
            return False
        return entry.main.emit == "None" or "remove_statement" in entry.main.rules

    def leave_Return(self, original: cst.Return, updated: cst.Return) -> cst.Return:
        if updated.value is None:
            return updated
        value = updated.value
        change = self._effects.in_place.pop(value, None)
        if change is not None and self._scope.outlives_return(change.place, change.usage):
            changed = self._effects.gathered.get(change.tensor, change.tensor)
            return updated.with_changes(value=self._scope.set_value(changed, value))
        bare = self._effects.bare(updated.value)
        return updated if bare is updated.value else updated.with_changes(value=bare)

    def propose_AugAssign(
        self, original: cst.AugAssign, updated: cst.AugAssign
    ) -> cst.AugAssign | cst.Assign | cst.Expr:
        partner = self.partner(original)
        compiled = self.is_compiled(self.function)
        if not isinstance(partner, ast.AugAssign):
            return updated
        if compiled and is_own_part(partner.target, self.function, self.context):
            helper = self.spelling.name("helpers.add_to_part")
            part = slice_augadd(partner.target, updated, helper)
            if part is not None:
                return part
        if not changes_tensor(partner.target, self._sites, self.context, compiled):
            return updated
        form = THROUGH
        leaf = isinstance(partner.target, ast.Name) and self._sites.is_parameter(partner.target)
        if leaf and may_be_plain(partner.target, self.function, self.context):
            return changed_in_place(updated.target, operation(updated), self.spelling)
        if isinstance(partner.target, (ast.Name, ast.Subscript)) and not leaf:
            form = self._scope.form(partner.target)
        self.context.edited_lines.add(partner.lineno)
        if form.kind == "through" and may_be_number(partner.target, self.context):
            return augmented(updated, self.spelling)
        if self._loses_fractions(partner):
            function = expression(self.spelling.name("helpers.of_same_kind"))
            arguments = [cst.Arg(updated.target), cst.Arg(operation(updated))]
            return cst.Assign(
                assign_targets(updated.target, form.names), cst.Call(function, arguments)
            )
        if form.kind == "through":
            return cst.Expr(self._written_through(partner, updated))
        if form.names or keeps_dtype(partner.target, partner.value, self.context):
            new = operation(updated)
            value = self._scope.of_left_dtype(partner.target, new, partner.value)
            return cst.Assign(assign_targets(updated.target, form.names), value)
        if not isinstance(partner.target, ast.Name):
            return updated
        around = self.function
        inner = self.is_compiled(around) and not self.context.becomes_construct(around)
        if inner and is_returned(partner.target.id, around):
            # To the compiler `x += y` of a parameter is an assignment to the caller's tensor.
            return cst.Assign([cst.AssignTarget(updated.target)], operation(updated))
        return updated

    def _loses_fractions(self, partner: ast.AugAssign) -> bool:
        """`whole += 0.5`, `whole /= 2`: torch raises."""
        divides = isinstance(partner.op, ast.Div)
        return self.context.flow.dtypes.refuses(partner.target, partner.value, divides)

    def _written_through(self, partner: ast.AugAssign, node: cst.AugAssign) -> cst.Call:
        """`p.data *= .5` and `m.weight /= n`: the parameter itself changes, so that optimizers and
        compiled steps see it.
        """
        if self._sites.is_parameter(partner.target) and self.is_compiled(self.function):
            return assigned(node.target, operation(node), self.spelling)
        return self._scope.set_value(node.target, operation(node))
