"""Calls: bound to torch's parameters, carried over by their row, or left with a marker."""

from __future__ import annotations

import ast
import copy
from functools import cached_property, partial

import libcst as cst

from migrate.flow.construction import builds_in_program
from migrate.pipeline import becomes, declare, flags
from migrate.resolve import Usage
from migrate.resolve.values import PARAMETER, Value
from migrate.rewrite.calls.call import Call, Refusal, Unbound, bind
from migrate.rewrite.calls.call_arguments import arguments_in_order, sources_of
from migrate.rewrite.calls.call_sites import CallSites
from migrate.rewrite.calls.device_moves import only_moves
from migrate.rewrite.calls.emit import arguments_kept, write_first
from migrate.rewrite.calls.members_by_name import member_by_name
from migrate.rewrite.calls.shown_types import shows_leaves
from migrate.rewrite.calls.signature_cells import signature_helper
from migrate.rewrite.calls.special_calls import Site, SpecialCalls
from migrate.rewrite.calls.starred_calls import StarredCalls
from migrate.rewrite.effects import Change, Effects
from migrate.rewrite.names.library_names import LibraryNames
from migrate.rewrite.names.reference_forms import ReferenceForms
from migrate.rewrite.names.runtime_choices import RuntimeChoices
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.rules import all_rules
from migrate.rewrite.statements.statement_forms import as_assignment, use_statement_forms
from migrate.syntax.nodes import expression
from migrate.syntax.text import code
from migrate.table import Entry

_REMOVED = "None"  # a row whose expression is None has no effect in MindSpore

_MODULE = "torch.nn.Module."
_UNBOUND = ("torch.Tensor.", _MODULE)


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages", "types"],
    after={
        "native_loaders": "loaders and transforms that become a pipeline are written there",
        "input_blocks": "the gradient of an input is planned, not called",
        "recorded_tensors": "gradients that are recorded are asked of the record",
        "step_calls": "the calls of a step have forms of their own",
        "compiled_code": "`map`, `zip` and the like have forms of their own in compiled code",
        "compiled_numbers": "`item()` of numpy's numbers is no tensor's in compiled code",
    },
    examples=[
        becomes("x = torch.cat([x, y], dim=1)", "x = ops.cat([x, y], axis=1)"),
        becomes("x = x.cuda()", ""),
        flags("x = torch.no_such_function(x)", "the mapping table does not know it"),
    ],
)
class LibraryCalls(NodePass):
    """Rewrites calls of torch's functions, classes and methods.

    Statements decide afterwards what becomes of in-place results and of calls without effect.
    """

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._sites = file.shared(CallSites)
        self._effects = file.shared(Effects)
        self._names = file.shared(LibraryNames)
        self._forms = file.shared(ReferenceForms)
        self._choices = file.shared(RuntimeChoices)
        self._special = file.shared(SpecialCalls)
        self._starred = file.shared(StarredCalls)
        self._rules = {name: rule.change for name, rule in all_rules().items()}

    def propose_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression | None:
        partner = self.partner(original)
        if not isinstance(partner, ast.Call):
            return None
        if partner in self._choices.getattr_tables:
            table = self._choices.getattr_tables[partner]
            try:
                return self._names.chosen_by_name(table, [a.value for a in updated.args[1:]])
            except Refusal as refusal:
                self.flag(partner, refusal, table.owner.api)
                space = expression(self.spelling.keep_torch(table.owner.api))
                first = updated.args[0].with_changes(value=space)
                return updated.with_changes(args=[first, *updated.args[1:]])
        literal = self.context.usage(partner)
        if literal is not None and literal.form == "exists":  # hasattr(torch, "compile")
            return self._exists(literal, partner, updated)
        if literal is not None:  # getattr(nn, "Conv2d")
            return self._forms.reference(literal, cst.Name("getattr"), None)
        usage = self.context.usage(partner.func)
        if usage is None:
            unsure = member_by_name(partner, self.context)
            if unsure is not None:
                self.flag(partner, unsure)
            return None
        return self._called(usage, partner, updated)

    def _called(
        self, usage: Usage, partner: ast.Call, updated: cst.Call
    ) -> cst.BaseExpression | None:
        if isinstance(updated.func, cst.Attribute) and only_moves(usage, partner, self.context):
            self.context.ported += 1
            return updated.func.value
        if usage.form == "unknown":
            self._flag_unknown(usage)
            return None
        if usage.form != "call":
            return None
        try:
            new = self._into_out(usage, partner, updated) or self._port(usage, partner, updated)
        except Refusal as refusal:
            self.flag(partner, refusal, usage.api)
            return self._left_alone(usage, updated)
        self.context.ported += 1
        if self._is_trained(usage, partner):
            new = self._as_parameter(partner, new)
        safe = self._effects.wrapped(new)
        if safe is not new and new in self._effects.in_place:
            self._effects.in_place[safe] = self._effects.in_place.pop(new)
        return safe

    def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
        value = self._effects.bare(updated.value)
        return updated if value is updated.value else updated.with_changes(value=value)

    def _is_trained(self, usage: Usage, partner: ast.Call) -> bool:
        """`torch.zeros(1, requires_grad=True)`: a leaf that an optimizer may be given."""
        return usage.api.startswith("torch.") and any(
            keyword.arg == "requires_grad"
            and isinstance(keyword.value, ast.Constant)
            and keyword.value.value is True
            and self.context.type(partner) is PARAMETER
            and usage.api != "torch.nn.Parameter"
            for keyword in partner.keywords
        )

    def _as_parameter(self, partner: ast.Call, made: cst.BaseExpression) -> cst.BaseExpression:
        """With the name of the variable: MindSpore's optimizers tell parameters by name."""
        variable = self._sites.variable_of.get(partner)
        name = ast.unparse(variable).rpartition(".")[2] if variable is not None else ""
        named = f", name={name!r}" if name else ""
        parameter = f"{self.spelling.name('mindspore.Parameter')}({code(made)}{named})"
        if self._shows_leaves:
            parameter = f"{self.spelling.name('helpers.shown_as_leaf')}({parameter})"
        return expression(parameter)

    @cached_property
    def _shows_leaves(self) -> bool:
        """Text of a leaf is that of a tensor, not of a parameter of a module."""
        return shows_leaves(self.context)

    def _into_out(
        self, usage: Usage, partner: ast.Call, updated: cst.Call
    ) -> cst.BaseExpression | None:
        """`torch.max(a, b, out=a)` as a statement: a change of `a` in place."""
        place = next((k.value for k in partner.keywords if k.arg == "out"), None)
        if partner not in self._sites.statements or not isinstance(
            place, (ast.Name, ast.Attribute, ast.Subscript)
        ):
            return None
        given = [a for a in updated.args if a.keyword is None or a.keyword.value != "out"]
        given[-1] = given[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        target = next(a.value for a in updated.args if a.keyword and a.keyword.value == "out")
        rest = copy.copy(partner)
        rest.keywords = [k for k in partner.keywords if k.arg != "out"]
        new = self._port(usage, rest, updated.with_changes(args=given))
        self._effects.in_place[new] = Change(target, place, usage)
        return new

    def _left_alone(self, usage: Usage, updated: cst.Call) -> cst.BaseExpression:
        """Keep the call.

        A path that imports lead to is spelled in full, since its short name now means
        MindSpore's.
        """
        if self._receiver(usage, updated) is not None:
            return updated
        return updated.with_changes(func=expression(self.spelling.keep_torch(usage.api)))

    def _exists(self, usage: Usage, partner: ast.Call, updated: cst.Call) -> cst.BaseExpression:
        """The port has what the table carries over, whatever torch's version was."""
        entry = self.table.get(usage.api)
        if entry is None:
            self.flag(
                partner, Refusal("the mapping table does not know it", "", "MS303"), usage.api
            )
            owner = expression(self.spelling.keep_torch(usage.api.rpartition(".")[0]))
            return updated.with_changes(
                args=[updated.args[0].with_changes(value=owner), *updated.args[1:]]
            )
        self.context.ported += 1
        portable = any(overload.portable for overload in entry.overloads)
        return cst.Name("True" if portable else "False")

    def _flag_unknown(self, usage: Usage) -> None:
        name = usage.api.rpartition(".")[2]
        entry = self.table.get(usage.api)
        forms = entry.overloads if entry is not None else ()
        unchanged = all(f.plain_with_elements and not f.drop for f in forms)
        unchanged = unchanged and not self._may_be_empty(usage.node)
        if entry is not None and unchanged and entry.main.mindspore.endswith(f".{name}"):
            self.context.ported += 1  # the same call means the same in both frameworks
            return
        kind = "Cell" if usage.api.startswith("torch.nn.Module.") else "tensor"
        both = kind == "tensor" and self.table.get(f"torch.nn.Module.{name}") is not None
        hint = "model: nn.Module" if kind == "Cell" else "x: torch.Tensor"
        if both:
            kind, hint = "tensor or Cell", f"{hint}` or `model: nn.Module"
        refusal = Refusal(
            f"`.{name}()` of a MindSpore {kind} differs from torch's, and the type of this value "
            "is unknown, so it was left as it is",
            f"annotate the variable (`{hint}`), or port this line by hand",
            "MS307",
        )
        self.flag(usage.node, refusal)

    def _may_be_empty(self, method: ast.AST) -> bool:
        return isinstance(method, ast.Attribute) and self.context.flow.empties.may_be(method.value)

    # Porting ------------------------------------------------------------------------------------

    def _port(self, usage: Usage, partner: ast.Call, updated: cst.Call) -> cst.BaseExpression:
        pool = self._special.pool(partner)
        if pool is not None:
            return pool
        site = Site(usage, partner, updated, self._names.row(usage), self._receiver(usage, updated))
        special = self._special.form(site)
        return self._by_row(site) if special is None else special

    def _by_row(self, site: Site) -> cst.BaseExpression:
        """The call in the form that its row gives."""
        entry, partner = site.entry, site.partner
        receiver, updated, types = self._operands(site)
        try:
            calls = bind(entry, updated, types, receiver)
        except Unbound:
            return self._starred.form(site.usage, entry, updated, receiver)
        self._place(calls, partner, receiver)
        call, new = self._written(entry, calls)
        if site.receiver is None and receiver is not None and entry.torch.startswith(_MODULE):
            new = self._of_cell(new, receiver)
        if entry.kind == "function" and call.given("inplace") and call.constant("inplace") is True:
            call.changes = True
        assignment = as_assignment(call, new)
        if assignment is not None:
            self._effects.assignments[new] = assignment
        if entry.inplace or call.changes:
            self._note_in_place(site.usage, call, partner, new)
        if isinstance(new, cst.Name) and new.value == _REMOVED:
            new = cst.Name(_REMOVED)
            self._effects.removed.add(new)
        return new

    def _operands(self, site: Site) -> tuple[cst.BaseExpression | None, cst.Call, list[Value]]:
        """Receiver, call and types of the arguments: torch.Tensor.add(x, y) is x.add(y), and
        nn.Module.train(self, mode) is self.train(mode) but for overrides.
        """
        receiver, updated, partner = site.receiver, site.updated, site.partner
        if receiver is not None and partner in self._sites.integer_casts:
            stop = self.spelling.name("mindspore.ops.stop_gradient")
            receiver = expression(f"{stop}({code(receiver)})")
        types = [self.context.type(argument) for argument in arguments_in_order(partner)]
        if receiver is None and site.entry.torch.startswith(_UNBOUND) and updated.args:
            first = updated.args[0]
            if site.entry.kind == "method" and first.keyword is None and not first.star:
                return first.value, updated.with_changes(args=updated.args[1:]), types[1:]
        return receiver, updated, types

    def _of_cell(self, new: cst.BaseExpression, receiver: cst.BaseExpression) -> cst.BaseExpression:
        """`self.set_train(mode)` as `nn.Cell.set_train(self, mode)`: the method of that class."""
        if (
            isinstance(new, cst.Call)
            and isinstance(new.func, cst.Attribute)
            and new.func.value is receiver
        ):
            owner = expression(self.spelling.name("mindspore.nn.Cell"))
            func = new.func.with_changes(value=owner)
            return new.with_changes(func=func, args=[cst.Arg(receiver), *new.args])
        return new

    def _place(
        self, calls: list[Call], partner: ast.Call, receiver: cst.BaseExpression | None
    ) -> None:
        """Tell the candidates where the call stands."""
        variable = self._sites.variable_of.get(partner)
        for candidate in calls:
            candidate.around = self.function
            candidate.variable = ast.unparse(variable) if variable is not None else ""
            if receiver is not None and isinstance(partner.func, ast.Attribute):
                candidate.receiver_type = self.context.type(partner.func.value)
            candidate.sources = sources_of(candidate, partner)
            candidate.dtype_of = self.context.flow.dtypes.of
            candidate.may_be_empty = self.context.flow.empties.may_be
            candidate.gets_empty = self.context.flow.empties.reach
            project = self.context.modules.project
            candidate.builds = partial(builds_in_program, self.function, self.context.tree, project)
        if partner in self._sites.statements:
            use_statement_forms(calls)

    def _written(self, entry: Entry, calls: list[Call]) -> tuple[Call, cst.BaseExpression]:
        """The call in MindSpore's form.

        Where that names an argument twice which must be computed once, a function made of the
        same form takes it; a dtype that is mostly None goes to the class with torch's arguments.
        """
        try:
            return write_first(calls, self.spelling, self._rules)
        except Refusal as refusal:
            twice = refusal.code == "MS313"
            if not twice and not self._takes_dtype(entry, calls[0]):
                raise
        form = calls[0].overload if twice else None
        name = signature_helper(entry, self.context, derive=False, form=form)
        return calls[0], arguments_kept(calls[0], self.spelling.name(f"helpers.{name}"))

    def _takes_dtype(self, entry: Entry, call: Call) -> bool:
        """`dtype=dtype`, handed down to a layer whose helper takes it."""
        name = entry.torch.rpartition(".")[2]
        return (
            entry.kind == "class"
            and call.given("dtype")
            and isinstance(call.value("dtype"), (cst.Name, cst.Attribute, cst.Subscript))
            and self.context.helpers.takes(name, "dtype")
        )

    def _receiver(self, usage: Usage, updated: cst.Call) -> cst.BaseExpression | None:
        """The object whose method is called.

        None for a function or class reached through imports.
        """
        if not isinstance(updated.func, cst.Attribute) or not isinstance(usage.node, ast.Attribute):
            return None
        return None if self._names.is_library_path(usage.node) else updated.func.value

    # In place -----------------------------------------------------------------------------------

    def _note_in_place(
        self, usage: Usage, call: Call, partner: ast.Call, new: cst.BaseExpression
    ) -> None:
        """Remember what the call changed.

        The statement around it knows whether that can be written.
        """
        if call.receiver is not None and isinstance(partner.func, ast.Attribute):
            changed, place = call.receiver, partner.func.value
        elif partner.args and call.node is not None:
            changed, place = call.node.args[0].value, partner.args[0]
        else:
            return
        # `p.mul_(a).add_(b)`: both change p.
        earlier = self._effects.in_place.pop(changed, None)
        if earlier is not None:
            changed, place = earlier.tensor, earlier.place
        self._effects.in_place[new] = Change(changed, place, usage)
