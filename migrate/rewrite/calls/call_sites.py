"""What calls stand in, and what is known of them before they are rewritten."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline.context import Context
from migrate.resolve.values import (
    PARAMETER,
    Instance,
    ProjectClass,
    Value,
    is_tensor,
    options_of,
)
from migrate.rewrite.calls.list_arguments import before_tensors, find_listed
from migrate.rewrite.cells.buffers import (
    find_buffers_before,
    find_stateful_buffers,
    without_value,
)
from migrate.rewrite.cells.member_iteration import find_member_iterations
from migrate.rewrite.cells.pool_sizes import find_sized_pools
from migrate.rewrite.node_pass import FileAccess, FileRewrite
from migrate.rewrite.tensors.integer_casts import integer_casts
from migrate.rewrite.tensors.integer_results import int_gradient_cuts
from migrate.syntax.access import attribute_of
from migrate.syntax.ast_index import nodes_of


class CallSites(FileAccess):
    """Facts about the calls of a file."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        context, tree = self.context, self.context.tree
        self.integer_casts = integer_casts(tree, context)
        self.int_gradient_cuts = int_gradient_cuts(tree, context, self.integer_casts)
        self.sized_pools = {} if context.spelling.mint else find_sized_pools(context)
        self.stateful = find_stateful_buffers(tree)
        self.buffers_before = find_buffers_before(tree, self.stateful)
        self.plain_buffers = without_value(tree)
        self.listed_for = find_listed(tree, context)
        self.before_tensors = before_tensors(tree, context)
        # Calls that compiled code cannot make -> what gives the same as a tuple; their first items.
        self.member_iterations, self.first_members = find_member_iterations(context)
        self.compared_types = _compared_types(tree)
        # Calls that are statements, and the variables that get the results of others.
        self.statements = {node.value for node in nodes_of(tree, ast.Expr)}
        self.variable_of: dict[ast.AST, ast.expr] = {
            node.value: node.targets[0] for node in nodes_of(tree, ast.Assign)
        }
        self.for_optimizer = self._for_optimizer()

    def _for_optimizer(self) -> set[ast.AST]:
        """`optim.SGD(model.parameters(), ...)`: calls of parameters() that only an optimizer sees.
        What it is given are the trainable parameters.
        """
        found: set[ast.AST] = set()
        for usage in self.context.usages.values():
            call = usage.call
            if call is None or not call.args or not usage.api.startswith("torch.optim."):
                continue
            first = call.args[0]
            inner = self.context.usage(first.func) if isinstance(first, ast.Call) else None
            if inner is not None and inner.api == "torch.nn.Module.parameters":
                assert isinstance(first, ast.Call)
                if not first.args:
                    found.add(first)
        return found

    def is_data(self, node: cst.BaseExpression) -> bool:
        """`p.data` of a tensor."""
        named = isinstance(node, cst.Attribute) and node.attr.value == "data"
        return named and is_tensor_data(self.partner(node), self.context)

    def data_among(self, nodes: list[cst.BaseExpression]) -> set[cst.CSTNode]:
        """`w.data` of `w.data` and of `w.data[0][1]`."""
        return {node for node in map(subscripted, nodes) if self.is_data(node)}

    def is_parameter(self, place: ast.expr) -> bool:
        """`m.weight`, `m.weight.data`, a name that holds a Parameter; not its gradient."""
        data = is_tensor_data(place, self.context)
        held = place.value if data and isinstance(place, ast.Attribute) else place
        if attribute_of(held) == "grad":
            return False
        if data and isinstance(place, ast.Attribute):
            inner = self.context.type(place.value)
            return (
                _has_parameter(inner)
                or not is_tensor(inner)
                or isinstance(place.value, ast.Attribute)
            )
        if attribute_of(place) in ("weight", "bias"):
            return True  # of a layer, whatever layer it is
        return _has_parameter(self.context.type(place))


def _compared_types(tree: ast.Module) -> set[ast.AST]:
    """`x.type() != y.type()`: two texts that name dtypes, compared with each other."""
    found: set[ast.AST] = set()
    for node in nodes_of(tree, ast.Compare):
        sides = [node.left, *node.comparators]
        calls = [s for s in sides if isinstance(s, ast.Call) and _asks_type(s)]
        found |= {call for call in calls if len(calls) == len(sides)}
    return found


def _asks_type(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name == "type" and not call.args and not call.keywords


def is_tensor_data(place: ast.AST | None, context: Context) -> bool:
    """`p.data` of a tensor, or of what may be one; not `self.data` of a class of the program."""
    if not isinstance(place, ast.Attribute) or place.attr != "data":
        return False
    owner = context.type(place.value)
    return is_tensor(owner) or not any(
        isinstance(option, Instance) and isinstance(option.cls, ProjectClass)
        for option in options_of(owner)
    )


def subscripted(node: cst.BaseExpression) -> cst.BaseExpression:
    """`w.data` of `w.data[0][1]`: what a change of an element changes."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return node


def _has_parameter(value: Value) -> bool:
    return any(option is PARAMETER for option in options_of(value))
