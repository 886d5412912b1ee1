"""Calls: bound to torch's parameters, carried over by their row, or left with a marker."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.port.call import Call, Refusal, Slot, Unbound, bind
from migrate.port.context import Context
from migrate.port.emit import write_call, write_first
from migrate.port.global_pool import GlobalPools, find_global_pools
from migrate.port.nodes import atomic, expression
from migrate.port.pool_sizes import find_sized_pools
from migrate.port.references import References
from migrate.port.rules import all_rules
from migrate.resolve import Usage
from migrate.resolve.hierarchy import is_module
from migrate.resolve.values import PARAMETER, UNKNOWN, Instance, Known, Value, is_tensor, options_of
from migrate.table import Entry

_REMOVED = "None"  # a row whose expression is None has no effect in MindSpore


class CallRewriter(References):
    """Rewrites calls.

    Statements decide afterwards what becomes of in-place results and of calls without effect.
    """

    def __init__(self, context: Context, tree: ast.Module) -> None:
        super().__init__(context, tree)
        self.rules = {name: rule.change for name, rule in all_rules().items()}
        # In mint the adaptive operator has torch's own form; elsewhere a mean says it better.
        self.pools = GlobalPools() if context.spelling.mint else find_global_pools(context)
        self.sized_pools = {} if context.spelling.mint else find_sized_pools(context)
        self.vanished: set[int] = set()  # ids of new nodes that stand for calls without effect
        self.changed_in_place: dict[int, tuple[cst.BaseExpression, ast.expr, Usage]] = {}
        self._for_optimizer: set[int] = set()  # calls of parameters() that only an optimizer sees
        self._elifs: set[int] = set()
        self._functions: list[ast.AST | None] = []

    def visit_Call(self, node: cst.Call) -> None:
        super().visit_Call(node)
        self._note_optimizer(self.partner(node))
        name = (
            node.func.attr.value
            if isinstance(node.func, cst.Attribute)
            else getattr(node.func, "value", "")
        )
        if isinstance(name, str) and name.endswith("_") and not name.startswith("_"):
            changed = [node.func.value] if isinstance(node.func, cst.Attribute) else []
            changed += [node.args[0].value] if node.args else []
            self._raw_data |= {id(part) for part in changed if is_data(part)}

    def _note_optimizer(self, partner: ast.AST | None) -> None:
        """`optim.SGD(model.parameters(), ...)`: what an optimizer is given are the trainable
        parameters.
        """
        if not isinstance(partner, ast.Call) or not partner.args:
            return
        usage = self.context.usage(partner.func)
        first = partner.args[0]
        if (
            usage is None
            or not usage.api.startswith("torch.optim.")
            or not isinstance(first, ast.Call)
        ):
            return
        inner = self.context.usage(first.func)
        if inner is not None and inner.api == "torch.nn.Module.parameters" and not first.args:
            self._for_optimizer.add(id(first))

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        partner = self.partner(original_node)
        if not isinstance(partner, ast.Call):
            return updated_node
        literal = self.context.usage(partner)
        if literal is not None:  # getattr(nn, "Conv2d")
            return self._reference(literal, cst.Name("getattr"), None)
        usage = self.context.usage(partner.func)
        if usage is None:
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
            new = self._port(usage, partner, updated_node)
        except Refusal as refusal:
            self.flag(partner, refusal, usage.api)
            return self._left_alone(usage, updated_node)
        self.context.ported += 1
        safe = self.wrapped(new)
        if safe is not new and id(new) in self.changed_in_place:
            self.changed_in_place[id(safe)] = self.changed_in_place.pop(id(new))
        return safe

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        value = self.bare(updated_node.value)
        return (
            updated_node if value is updated_node.value else updated_node.with_changes(value=value)
        )

    def leave_FormattedStringExpression(
        self,
        original_node: cst.FormattedStringExpression,
        updated_node: cst.FormattedStringExpression,
    ) -> cst.FormattedStringExpression:
        """f"{loss:.3f}": a MindSpore tensor takes no format, its item does."""
        value = self.bare(updated_node.expression)
        kind = self.context.type(self.partner(original_node.expression))
        if original_node.format_spec is not None and is_tensor(kind):
            value = cst.Call(func=cst.Attribute(value=atomic(value), attr=cst.Name("item")))
        return updated_node.with_changes(expression=value)

    def _only_moves(self, usage: Usage, partner: ast.Call) -> bool:
        """`batch.to(device)`, whatever batch is: MindSpore has one device, and nothing to move."""
        owner, _, name = usage.api.rpartition(".")
        if owner not in ("torch.Tensor", "torch.nn.Module"):
            return False
        if name in ("cuda", "cpu", "pin_memory"):
            return True
        if name != "to" or not partner.args:
            return False
        rest = {keyword.arg for keyword in partner.keywords} - {"non_blocking", "copy"}
        return len(partner.args) == 1 and not rest and self._is_device(partner.args[0])

    def _is_device(self, node: ast.expr) -> bool:
        kinds = options_of(self.context.type(node))
        if any(isinstance(kind, Instance) and kind.cls == "torch.device" for kind in kinds):
            return True
        if any(
            isinstance(kind, Known) and str(kind.value).startswith(("cuda", "cpu"))
            for kind in kinds
        ):
            return True
        return "device" in ast.unparse(node).lower() and kinds == (UNKNOWN,)

    def _flag_unknown(self, usage: Usage) -> None:
        name = usage.api.rpartition(".")[2]
        entry = self.table.get(usage.api)
        unchanged = entry is not None and all(f.plain and not f.drop for f in entry.overloads)
        if entry is not None and unchanged and entry.main.mindspore.endswith(f".{name}"):
            return  # the same call means the same in both frameworks
        kind = "Cell" if usage.api.startswith("torch.nn.Module.") else "tensor"
        hint = "model: nn.Module" if kind == "Cell" else "x: torch.Tensor"
        refusal = Refusal(
            f".{name}() is another one on a MindSpore {kind}, and this value's type is not known",
            f"annotate the variable (`{hint}`), or port this line by hand",
            "MS307",
        )
        self.flag(usage.node, refusal)

    def _other_call(self, partner: ast.Call, updated: cst.Call) -> cst.BaseExpression:
        axes = self.pools.calls.get(id(partner))
        if axes is None:
            return self._by_position(partner, updated)
        spelled = f"({', '.join(map(str, axes))}{',' if len(axes) == 1 else ''})"
        first = updated.args[0].with_changes(
            comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        )
        return updated.with_changes(args=[first, cst.Arg(expression(spelled))])

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
        if id(partner) in self._for_optimizer and receiver is not None:
            return cst.Call(
                func=cst.Attribute(value=atomic(receiver), attr=cst.Name("trainable_params"))
            )
        types = [self.context.type(argument) for argument in arguments_in_order(partner)]
        try:
            calls = bind(entry, updated, types, receiver)
        except Unbound:
            return self._unbound(usage, entry, updated, receiver)
        if receiver is not None and isinstance(partner.func, ast.Attribute):
            for candidate in calls:
                candidate.receiver_type = self.context.type(partner.func.value)
        call, new = write_first(calls, self.spelling, self.rules)
        if entry.inplace:
            self._note_in_place(usage, call, partner, new)
        if isinstance(new, cst.Name) and new.value == _REMOVED:
            new = cst.Name(_REMOVED)
            self._kept.append(new)
            self.vanished.add(id(new))
        return new

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
        if receiver is not None:
            return self._starred_method(entry, updated, receiver)
        return updated.with_changes(func=expression(self._value(usage, entry)))

    def _starred_method(
        self, entry: Entry, updated: cst.Call, receiver: cst.BaseExpression
    ) -> cst.BaseExpression:
        """x.view(*shape): the stars fill torch's varargs, and nothing else can be meant."""
        for overload in entry.overloads:
            signature = overload.signature
            only_varargs = (
                signature is not None and signature.varargs is not None and not signature.positional
            )
            if only_varargs and all(
                a.keyword is None and a.star in ("", "*") for a in updated.args
            ):
                slots = [
                    Slot("", argument.value, source=argument, positional=True)
                    for argument in updated.args
                ]
                call = Call(entry, overload, receiver, varargs=slots, node=updated)
                call.target, call.emit, call.helper = (
                    overload.mindspore,
                    overload.emit,
                    overload.helper,
                )
                return write_call(call, self.spelling, self.rules)
        if entry.main.helper:
            arguments = [cst.Arg(receiver), *updated.args]
            return updated.with_changes(
                func=expression(self.spelling.name(f"helpers.{entry.main.helper}")), args=arguments
            )
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
        self._kept.append(new)
        self.changed_in_place[id(new)] = (changed, place, usage)

    def is_parameter(self, place: ast.expr) -> bool:
        """`m.weight`, `m.weight.data`, a name that holds a Parameter."""
        if isinstance(place, ast.Attribute) and place.attr == "data":
            inner = self.context.type(place.value)
            return (
                _has_parameter(inner)
                or not is_tensor(inner)
                or isinstance(place.value, ast.Attribute)
            )
        if isinstance(place, ast.Attribute) and place.attr in ("weight", "bias"):
            return True  # of a layer, whatever layer it is
        return _has_parameter(self.context.type(place))


def is_data(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value == "data"


def _has_parameter(value: Value) -> bool:
    return any(option is PARAMETER for option in options_of(value))


def arguments_in_order(node: ast.Call) -> list[ast.expr]:
    """Positional and keyword arguments as they stand in the source."""
    parts: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    parts.sort(key=lambda part: (part.lineno, part.col_offset))
    return [part.value if isinstance(part, ast.keyword) else part for part in parts]
