"""Calls: bound to torch's parameters, carried over by their row, or left with a marker."""

from __future__ import annotations

import ast
import copy

import libcst as cst

from migrate.plan.project_flags import thaws
from migrate.resolve import Usage
from migrate.resolve.hierarchy import is_module
from migrate.resolve.values import (
    PARAMETER,
    UNKNOWN,
    Instance,
    options_of,
)
from migrate.rewrite.calls.call import Call, Refusal, Slot, Unbound, bind
from migrate.rewrite.calls.call_context import CallContext
from migrate.rewrite.calls.emit import arguments_kept, write_call, write_first
from migrate.rewrite.calls.signature_cells import signature_helper
from migrate.rewrite.cells.buffers import as_parameter
from migrate.rewrite.names.forward_names import by_name, written_to_unknown
from migrate.rewrite.names.runtime_class_checks import asked_by
from migrate.rewrite.statements.statement_forms import as_assignment, use_statement_forms
from migrate.rewrite.tensors.reject_numpy_union import refuse_mixed
from migrate.syntax.nodes import atomic, expression
from migrate.syntax.text import code
from migrate.table import Entry

_REMOVED = "None"  # a row whose expression is None has no effect in MindSpore


class CallRewriter(CallContext):
    """Rewrites calls.

    Statements decide afterwards what becomes of in-place results and of calls without effect.
    """

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        partner = self.partner(original_node)
        if not isinstance(partner, ast.Call):
            return updated_node
        if id(partner) in self.looked_up:
            return self.chosen_by_name(self.looked_up[id(partner)], updated_node.args[1].value)
        literal = self.context.usage(partner)
        if literal is not None and literal.form == "exists":  # hasattr(torch, "compile")
            return self._exists(literal, partner, updated_node)
        if literal is not None:  # getattr(nn, "Conv2d")
            return self._reference(literal, cst.Name("getattr"), None)
        usage = self.context.usage(partner.func)
        if usage is None:
            if self._is_quieting(partner):
                self._kept.append(updated_node)
                self.vanished.add(id(updated_node))
                return updated_node
            return self._other_call(partner, updated_node)
        moved = isinstance(updated_node.func, cst.Attribute) and self._only_moves(usage, partner)
        if moved and isinstance(updated_node.func, cst.Attribute):
            self.context.ported += 1
            return updated_node.func.value
        if usage.form == "unknown":
            self._flag_unknown(usage)
            return updated_node
        if usage.form != "call":
            return updated_node
        try:
            new = self._into_out(usage, partner, updated_node) or self._port(
                usage, partner, updated_node
            )
        except Refusal as refusal:
            self.flag(partner, refusal, usage.api)
            return self._left_alone(usage, updated_node)
        self.context.ported += 1
        if self._is_trained(usage, partner):
            new = self._as_parameter(partner, new)
        safe = self.wrapped(new)
        if safe is not new and id(new) in self.changed_in_place:
            self.changed_in_place[id(safe)] = self.changed_in_place.pop(id(new))
        return safe

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
        variable = self._variable_of.get(id(partner))
        name = ast.unparse(variable).rpartition(".")[2] if variable is not None else ""
        named = f", name={name!r}" if name else ""
        return expression(f"{self.spelling.name('mindspore.Parameter')}({code(made)}{named})")

    def _into_out(
        self, usage: Usage, partner: ast.Call, updated: cst.Call
    ) -> cst.BaseExpression | None:
        """`torch.max(a, b, out=a)` as a statement: a change of `a` in place."""
        place = next((k.value for k in partner.keywords if k.arg == "out"), None)
        if id(partner) not in self._alone or not isinstance(
            place, ast.Name | ast.Attribute | ast.Subscript
        ):
            return None
        given = [a for a in updated.args if a.keyword is None or a.keyword.value != "out"]
        given[-1] = given[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        target = next(a.value for a in updated.args if a.keyword and a.keyword.value == "out")
        rest = copy.copy(partner)
        rest.keywords = [k for k in partner.keywords if k.arg != "out"]
        new = self._port(usage, rest, updated.with_changes(args=given))
        self._kept.append(new)
        self.changed_in_place[id(new)] = (target, place, usage)
        return new

    def _other_call(self, partner: ast.Call, updated: cst.Call) -> cst.BaseExpression:
        if id(partner) in self.asked_classes:  # type(m)
            return self.class_asked_of(updated.args[0].value)
        if self._is_anyones_state(partner) and isinstance(updated.func, cst.Attribute):
            function = expression(self.spelling.name(f"helpers.{updated.func.attr.value}"))
            return updated.with_changes(
                func=function, args=[cst.Arg(updated.func.value), *updated.args]
            )
        if id(partner) in self._first_members:
            return _first_item(updated.args[0].value)
        helper = asked_by(partner, self.context)
        if helper:
            return updated.with_changes(func=expression(self.spelling.name(f"helpers.{helper}")))
        axes = self.pools.calls.get(id(partner))
        if axes is None:
            unclear = written_to_unknown(partner, self.context)
            if unclear is not None:
                self.flag(partner, unclear)
            return self._by_position(partner, by_name(partner, updated, self.context))
        spelled = f"({', '.join(map(str, axes))}{',' if len(axes) == 1 else ''})"
        first = updated.args[0].with_changes(
            comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        )
        return updated.with_changes(args=[first, cst.Arg(expression(spelled))])

    def _is_anyones_state(self, partner: ast.Call) -> bool:
        """`thing.state_dict()` of something unknown, which may be a model: the helpers ask."""
        function = partner.func
        return (
            isinstance(function, ast.Attribute)
            and (function.attr, len(partner.args)) in (("state_dict", 0), ("load_state_dict", 1))
            and self.context.type(function.value) is UNKNOWN
            and not any(keyword.arg != "strict" for keyword in partner.keywords)
        )

    def _by_position(self, partner: ast.Call, updated: cst.Call) -> cst.Call:
        """`layer(input=x)`: torch's layers call their input so, MindSpore's each as they like."""
        lone = len(updated.args) == 1 and updated.args[0].keyword is not None
        if not lone or partner.keywords[0].arg != "input":
            return updated
        kinds = options_of(self.context.type(partner.func))
        if not all(
            isinstance(k, Instance) and isinstance(k.cls, str) and is_module(k.cls) for k in kinds
        ):
            return updated
        return updated.with_changes(
            args=[updated.args[0].with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)]
        )

    def _left_alone(self, usage: Usage, updated: cst.Call) -> cst.BaseExpression:
        """Keep the call.

        A path that imports lead to is spelled in full, since its short name now means
        MindSpore's.
        """
        if self._receiver(usage, updated) is not None:
            return updated
        return updated.with_changes(func=expression(self.spelling.keep_torch(usage.api)))

    # Porting ------------------------------------------------------------------------------------

    def _port(self, usage: Usage, partner: ast.Call, updated: cst.Call) -> cst.BaseExpression:
        if id(partner) in self.pools.constructors:
            return expression(f"{self.spelling.name('mindspore.ops.ReduceMean')}(keep_dims=True)")
        if id(partner) in self.sized_pools:
            return self._plain_pool(self.sized_pools[id(partner)])
        entry = self.row(usage)
        receiver = self._receiver(usage, updated)
        if receiver is not None and not entry.main.plain:
            refuse_mixed(getattr(partner.func, "value", partner), self.context)
        if id(partner) in self.compared_types and receiver is not None:
            return cst.Attribute(value=atomic(receiver), attr=cst.Name("dtype"))
        if id(partner) in self._listed_members and receiver is not None:
            name = self.spelling.name(f"helpers.{self._listed_members[id(partner)]}")
            return cst.Call(func=expression(name), args=[cst.Arg(receiver)])
        within = entry.main.within
        if within and self._listed_for.get(id(partner)) not in within:
            return updated.with_changes(func=expression(self._value(usage, entry)))
        if id(partner) in self.stateful and receiver is not None and id(partner) in self._alone:
            name = self.stateful[id(partner)]
            # Stands for the assignment until the statement is left.
            made = cst.Call(func=cst.Name(name))
            self._kept.append(made)
            self.assignments[id(made)] = as_parameter(name, receiver, updated, self.spelling)
            return made
        if (
            id(partner) in self._for_optimizer
            and receiver is not None
            and not thaws(self.context.modules.project)
        ):
            return cst.Call(
                func=cst.Attribute(value=atomic(receiver), attr=cst.Name("trainable_params"))
            )
        if receiver is not None and id(partner) in self.integer_casts:
            stop = self.spelling.name("mindspore.ops.stop_gradient")
            receiver = expression(f"{stop}({code(receiver)})")
        types = [self.context.type(argument) for argument in arguments_in_order(partner)]
        if receiver is None and entry.torch.startswith("torch.Tensor.") and updated.args:
            first = updated.args[0]
            if entry.kind == "method" and first.keyword is None and not first.star:
                # torch.Tensor.add(x, y) is x.add(y)
                receiver, updated = first.value, updated.with_changes(args=updated.args[1:])
                types = types[1:]
        try:
            calls = bind(entry, updated, types, receiver)
        except Unbound:
            return self._unbound(usage, entry, updated, receiver)
        variable = self._variable_of.get(id(partner))
        for candidate in calls:
            candidate.around = self._functions[-1] if self._functions else None
            candidate.variable = ast.unparse(variable) if variable is not None else ""
        if receiver is not None and isinstance(partner.func, ast.Attribute):
            for candidate in calls:
                candidate.receiver_type = self.context.type(partner.func.value)
        if id(partner) in self._alone:
            use_statement_forms(calls)
        call, new = self._written(entry, calls)
        if entry.kind == "function" and call.given("inplace") and call.constant("inplace") is True:
            call.changes = True
        assignment = as_assignment(call, new)
        if assignment is not None:
            self._kept.append(new)
            self.assignments[id(new)] = assignment
        if entry.inplace or call.changes:
            self._note_in_place(usage, call, partner, new)
        if isinstance(new, cst.Name) and new.value == _REMOVED:
            new = cst.Name(_REMOVED)
            self._kept.append(new)
            self.vanished.add(id(new))
        return new

    def _written(self, entry: Entry, calls: list[Call]) -> tuple[Call, cst.BaseExpression]:
        """The call in MindSpore's form.

        Where that names an argument twice which must be computed once, a function made of the
        same form takes it; a dtype that is mostly None goes to the class with torch's arguments.
        """
        try:
            return write_first(calls, self.spelling, self.rules)
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
            and isinstance(call.value("dtype"), cst.Name | cst.Attribute | cst.Subscript)
            and self.context.helpers.takes(name, "dtype")
        )

    def _plain_pool(self, kernel: tuple[int, int]) -> cst.BaseExpression:
        size = str(kernel[0]) if kernel[0] == kernel[1] else str(kernel)
        name = self.spelling.name("mindspore.nn.AvgPool2d")
        return expression(f"{name}(kernel_size={size}, stride={size})")

    def _receiver(self, usage: Usage, updated: cst.Call) -> cst.BaseExpression | None:
        """The object whose method is called.

        None for a function or class reached through imports.
        """
        if not isinstance(updated.func, cst.Attribute) or not isinstance(usage.node, ast.Attribute):
            return None
        return None if self._is_library_path(usage.node) else updated.func.value

    def _unbound(
        self, usage: Usage, entry: Entry, updated: cst.Call, receiver: cst.BaseExpression | None
    ) -> cst.BaseExpression:
        """*args or **kwargs: call the form that has torch's signature, which sorts them out at
        run time.
        """
        filled = self._starred_varargs(entry, updated, receiver)
        if filled is not None:
            return filled
        if receiver is not None:
            return self._starred_method(entry, updated, receiver)
        return updated.with_changes(func=expression(self._value(usage, entry)))

    def _starred_varargs(
        self, entry: Entry, updated: cst.Call, receiver: cst.BaseExpression | None
    ) -> cst.BaseExpression | None:
        """x.view(*shape): the stars fill torch's varargs, and nothing else can be meant."""
        if any(argument.star == "**" for argument in updated.args):
            return None
        given = {a.keyword.value: a for a in updated.args if a.keyword is not None}
        for overload in entry.overloads:
            signature = overload.signature
            if (
                signature is None
                or signature.varargs is None
                or signature.positional
                or not all(name in signature.names for name in given)
                or (receiver is None and not overload.emit and entry.kind != "function")
                or any(
                    p.required and p.kind == "keyword" and p.name not in given
                    for p in signature.parameters
                )
            ):
                continue
            varargs = [
                Slot("", argument.value, source=argument, positional=True)
                for argument in updated.args
                if argument.keyword is None
            ]
            slots = {name: Slot(name, a.value, source=a) for name, a in given.items()}
            call = Call(entry, overload, receiver, slots=slots, varargs=varargs, node=updated)
            call.target, call.emit, call.helper = (
                overload.mindspore,
                overload.emit,
                overload.helper,
            )
            return write_call(call, self.spelling, self.rules)
        return None

    def _starred_method(
        self, entry: Entry, updated: cst.Call, receiver: cst.BaseExpression
    ) -> cst.BaseExpression:
        if entry.main.helper:
            arguments = [cst.Arg(receiver), *updated.args]
            return updated.with_changes(
                func=expression(self.spelling.name(f"helpers.{entry.main.helper}")), args=arguments
            )
        main = entry.main
        if len(entry.overloads) == 1 and main.plain and not main.drop:
            # Nothing but the name changes; what MindSpore does not take is an error at run time.
            name = cst.Name(main.mindspore.rpartition(".")[2])
            return updated.with_changes(func=cst.Attribute(value=atomic(receiver), attr=name))
        raise Refusal(
            "*args or **kwargs decide how it is called", "spell the arguments out", "MS311"
        )

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
        if id(changed) in self.changed_in_place:
            changed, place, _ = self.changed_in_place.pop(id(changed))
        self._kept.append(new)
        self.changed_in_place[id(new)] = (changed, place, usage)


def _first_item(members: cst.BaseExpression) -> cst.Subscript:
    """`helpers.parameters_of(net)[0]` for `next(iter(net.parameters()))`."""
    if isinstance(members, cst.Call) and code(members.func) == "iter":
        members = members.args[0].value
    return cst.Subscript(members, [cst.SubscriptElement(cst.Index(cst.Integer("0")))])


def arguments_in_order(node: ast.Call) -> list[ast.expr]:
    """Positional and keyword arguments as they stand in the source."""
    parts: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    parts.sort(key=lambda part: (part.lineno, part.col_offset))
    return [part.value if isinstance(part, ast.keyword) else part for part in parts]
