"""What stands around calls: what they are for, where they move things, questions about the
library, and receivers that nobody knows.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.resolve import Usage
from migrate.resolve.values import (
    PARAMETER,
    UNKNOWN,
    Instance,
    Known,
    Value,
    is_tensor,
    options_of,
)
from migrate.rewrite.calls.call import Refusal
from migrate.rewrite.calls.list_arguments import find_listed
from migrate.rewrite.cells.buffers import find_stateful_buffers, without_value
from migrate.rewrite.cells.global_pool import GlobalPools, find_global_pools
from migrate.rewrite.cells.member_iteration import find_listed_members
from migrate.rewrite.cells.pool_sizes import find_sized_pools
from migrate.rewrite.context import Context
from migrate.rewrite.names.references import References
from migrate.rewrite.rules import all_rules
from migrate.rewrite.tensors.integer_casts import integer_casts
from migrate.rewrite.tensors.integer_results import counted_integers
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.nodes import OtherQuotes, atomic, expression, with_parts

_QUIETING = (
    "warnings.catch_warnings",
    "warnings.filterwarnings",
    "warnings.simplefilter",
)


class CallContext(References):
    """Notes what the rewriting of a call needs to know, and the small cases beside it."""

    def __init__(self, context: Context, tree: ast.Module) -> None:
        super().__init__(context, tree)
        self.rules = {name: rule.change for name, rule in all_rules().items()}
        self.integer_casts = integer_casts(tree, context)
        self.counted_integers = counted_integers(tree, context, self.integer_casts)
        # In mint the adaptive operator has torch's own form; elsewhere a mean says it better.
        self.pools = GlobalPools() if context.spelling.mint else find_global_pools(context)
        self.sized_pools = {} if context.spelling.mint else find_sized_pools(context)
        self.stateful = find_stateful_buffers(tree)
        self.plain_buffers = without_value(tree)
        self.vanished: set[int] = set()  # ids of new nodes that stand for calls without effect
        self.changed_in_place: dict[int, tuple[cst.BaseExpression, ast.expr, Usage | None]] = {}
        self._for_optimizer: set[int] = set()  # calls of parameters() that only an optimizer sees
        self._alone: set[int] = set()  # calls that are statements of their own
        self._listed_for = find_listed(tree, context)
        # Calls that compiled code cannot make -> what gives the same as a tuple; their first items.
        self._listed_members, self._first_members = find_listed_members(context)
        self.compared_types = _compared_types(tree)
        self.assignments: dict[int, cst.Assign] = {}  # what such a call is written as
        self.written: dict[int, str] = {}  # `layer.eps = value` -> the row's form for it
        self._read_before: dict[int, set[int]] = {}  # function -> reads of what it changes later
        self.targets: set[int] = set()  # subscripts that are assigned to
        self._numpy_indices: set[int] | None = None  # between the brackets of a tensor
        self._numpy_left: dict[tuple[int, int], bool] | None = None  # found when first asked for
        self._written_items: set[int] = set()  # `p["a"]` where it is assigned to
        self._variable_of: dict[int, ast.expr] = {}  # call -> the variable that gets its result
        self._elifs: set[int] = set()
        self._functions: list[ast.AST | None] = []

    def visit_Expr(self, node: cst.Expr) -> None:
        super().visit_Expr(node)
        partner = self.partner(node)
        if isinstance(partner, ast.Expr):
            self._alone.add(id(partner.value))

    def visit_Assign(self, node: cst.Assign) -> None:
        super().visit_Assign(node)
        partner = self.partner(node)
        if isinstance(partner, ast.Assign):
            self._variable_of[id(partner.value)] = partner.targets[0]

    def _changes_argument(self, node: cst.Call) -> bool:
        """`dist.broadcast(p.data, 0)`: the row says that it changes its first argument."""
        usage = self.context.usage(getattr(self.partner(node), "func", None))
        entry = self.table.get(usage.api) if usage is not None else None
        return entry is not None and entry.inplace

    def visit_Call(self, node: cst.Call) -> None:
        super().visit_Call(node)
        self._note_optimizer(self.partner(node))
        name = (
            node.func.attr.value
            if isinstance(node.func, cst.Attribute)
            else getattr(node.func, "value", "")
        )
        named_so = isinstance(name, str) and name.endswith("_") and not name.startswith("_")
        if named_so or self._changes_argument(node):
            changed = [node.func.value] if isinstance(node.func, cst.Attribute) else []
            changed += [node.args[0].value] if node.args else []
            self._raw_data |= {id(part) for part in map(subscripted, changed) if is_data(part)}

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

    def _is_quieting(self, partner: ast.Call) -> bool:
        """Warnings switched off inside forward: a graph has none, and cannot compile it."""
        within = self._functions[-1] if self._functions else None
        return id(within) in self.context.forwards and ast.unparse(partner.func) in _QUIETING

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
        elif original_node.format_spec is not None and any(map(is_tensor, options_of(kind))):
            value = cst.Call(func=cst.Name("float"), args=[cst.Arg(value)])  # or a number already
        return with_parts(updated_node, expression=value)

    def leave_FormattedString(
        self, original_node: cst.FormattedString, updated_node: cst.FormattedString
    ) -> cst.FormattedString:
        """Strings that came into an f-string need the other quotes."""
        if original_node is updated_node or len(updated_node.end) != 1:
            return updated_node
        return updated_node.visit(OtherQuotes(updated_node.end))  # type: ignore[return-value]

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
            self.context.ported += 1  # the same call means the same in both frameworks
            return
        kind = "Cell" if usage.api.startswith("torch.nn.Module.") else "tensor"
        hint = "model: nn.Module" if kind == "Cell" else "x: torch.Tensor"
        refusal = Refusal(
            f".{name}() is another one on a MindSpore {kind}, and this value's type is not known",
            f"annotate the variable (`{hint}`), or port this line by hand",
            "MS307",
        )
        self.flag(usage.node, refusal)

    def is_parameter(self, place: ast.expr) -> bool:
        """`m.weight`, `m.weight.data`, a name that holds a Parameter; not its gradient."""
        held = place.value if isinstance(place, ast.Attribute) and place.attr == "data" else place
        if isinstance(held, ast.Attribute) and held.attr == "grad":
            return False
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


def _compared_types(tree: ast.Module) -> set[int]:
    """`x.type() != y.type()`: two texts that name dtypes, compared with each other."""
    found: set[int] = set()
    for node in nodes_of(tree, ast.Compare):
        sides = [node.left, *node.comparators]
        calls = [s for s in sides if isinstance(s, ast.Call) and _asks_type(s)]
        found |= {id(call) for call in calls if len(calls) == len(sides)}
    return found


def _asks_type(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name == "type" and not call.args and not call.keywords


def is_data(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value == "data"


def subscripted(node: cst.BaseExpression) -> cst.BaseExpression:
    """`w.data` of `w.data[0][1]`: what a change of an element changes."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return node


def _has_parameter(value: Value) -> bool:
    return any(option is PARAMETER for option in options_of(value))
