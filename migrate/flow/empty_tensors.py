"""Tensors that may have no elements: `x[mask]` where nothing is selected, `torch.empty(0)`.

MindSpore's CPU kernels leave the result of a reduction over nothing as the memory was before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from migrate.flow.bounded import Bounded
from migrate.resolve.values import INT, Instance, Known, is_tensor, options_of
from migrate.syntax.ast_index import all_nodes, nodes_of

if TYPE_CHECKING:
    from migrate.flow import Flow
    from migrate.flow.events import Definition
    from migrate.flow.function import FunctionFlow
    from migrate.resolve.values import ProjectFunction

_SELECTING = frozenset({"masked_select", "nonzero", "argwhere", "take_along_dim"})
_MADE = frozenset(
    """
    as_tensor empty from_numpy full new_empty new_full new_ones new_tensor new_zeros ones rand randn
    tensor zeros FloatTensor LongTensor BoolTensor Tensor IntTensor
    """.split()  # noqa: SIM905
)
_JOINING = frozenset({"cat", "concat", "concatenate", "hstack"})
# What they give has the elements of another tensor, or a number of elements of its own.
_APART = frozenset(
    """
    arange bincount gather index_select linspace new_tensor nll_loss one_hot randint randperm
    scatter scatter_add index_add index_copy put take embedding topk item tolist size numel dim
    """.split()  # noqa: SIM905
)
_REDUCING = frozenset(
    """
    all amax amin any argmax argmin max mean median min norm prod std sum var logsumexp
    """.split()  # noqa: SIM905
)
_LENGTHS = frozenset({"size", "numel", "dim", "nelement"})


class EmptyTensors(Bounded):
    """Asked by reductions, whose kernels are wrong for nothing."""

    def __init__(self, flow: Flow) -> None:
        super().__init__()
        self._flow = flow
        self._known: dict[ast.expr, bool] = {}

    def may_be(self, node: ast.expr) -> bool:
        """The program shows a way in which the tensor has no elements."""
        if node not in self._known:
            self._known[node] = False  # while it is looked at
            self._known[node] = self.bounded(self._find, node, False)
        return self._known[node]

    def reach(self, cls: str) -> bool:
        """Some layer of the class is called with such a tensor in this file."""
        symbols = self._flow.symbols
        return any(
            isinstance(kind, Instance) and kind.cls == cls
            for node in nodes_of(self._flow.tree, ast.Call)
            if any(map(self.may_be, node.args))
            for kind in options_of(symbols.type(node.func))
        )

    def _find(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Subscript):
            return self._selects(node) or self.may_be(node.value)
        if isinstance(node, ast.Attribute):
            values = self._flow.dtypes.assigned(node)
            return any(map(self.may_be, values or [node.value]))
        if isinstance(node, ast.Call):
            return self._call(node)
        return any(map(self.may_be, _parts(node)))

    def _selects(self, node: ast.Subscript) -> bool:
        """By truth values, by places that may be none, by bounds that may meet."""
        if not is_tensor(self._flow.symbols.type(node.value)):
            return False
        index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return any(map(self._may_select_nothing, index))

    def _may_select_nothing(self, index: ast.expr) -> bool:
        if isinstance(index, ast.Slice):
            bounds = [bound for bound in (index.lower, index.upper) if bound is not None]
            return _may_meet(index) or any(map(self._is_computed, bounds))
        if isinstance(index, ast.Constant):
            return False
        kind = self._flow.symbols.type(index)
        return kind is not INT and not isinstance(kind, Known) and self._is_mask(index)

    def _is_mask(self, index: ast.expr) -> bool:
        """Truth values, or a tensor of unknown dtype; places, if there may be none of them."""
        dtype = self._flow.dtypes.of(index)
        if dtype:
            return dtype in ("bool", "uint8") or self.may_be(index)
        if isinstance(index, ast.Name):
            return self.bounded(self._names_mask, index, False)
        if isinstance(index, ast.BinOp) and isinstance(index.op, ast.BitAnd | ast.BitOr):
            return True
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.Invert):
            return True
        return is_tensor(self._flow.symbols.type(index))

    def _names_mask(self, index: ast.expr) -> bool:
        around = self._flow.around(index)
        if around is None or not isinstance(index, ast.Name):
            return False
        for definition in around.defuse.reaching(index):
            if definition.kind == "parameter":
                given = self._flow.views.given(around.node, index.id)
                if not given or any(flow.empties._is_mask(value) for flow, value in given):
                    return True
            elif definition.value is not None and self._is_mask(definition.value):
                return True
        return is_tensor(self._flow.symbols.type(index))

    def _is_computed(self, bound: ast.expr) -> bool:
        """A number that comes of data: `int(mask.sum())`, `count`; no setting and no length."""
        if isinstance(bound, ast.Name):
            around = self._flow.around(bound)
            found = around.defuse.reaching(bound) if around is not None else ()
            return any(d.value is not None and self._is_computed(d.value) for d in found)
        if not isinstance(bound, ast.Call):
            return any(map(self._is_computed, _parts(bound)))
        if isinstance(bound.func, ast.Attribute):
            return bound.func.attr in ("item", "tolist", "sum", "count_nonzero")
        return any(map(self._is_computed, bound.args))

    def _call(self, node: ast.Call) -> bool:
        api = self._flow.symbols.api(node.func)
        if api.startswith("torch."):
            return self._of_torch(node, api)
        targets = self._flow.calls.targets(node)
        if not targets:
            layer = not api and bool(node.args) and is_tensor(self._flow.symbols.type(node))
            return layer and self.may_be(node.args[0])
        return any(map(self.may_be, self._returned(targets)))

    def _returned(self, targets: tuple[ProjectFunction, ...]) -> Iterator[ast.expr]:
        """The tensors that functions of the program return, one by one."""
        for target in targets:
            for inner in all_nodes(self._flow.of(target).node):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    value = inner.value
                    parts = value.elts if isinstance(value, ast.Tuple) else [value]
                    yield from (p for p in parts if is_tensor(self._flow.symbols.type(p)))

    def _of_torch(self, node: ast.Call, api: str) -> bool:
        name = api.rpartition(".")[2]
        method = api.startswith("torch.Tensor.")
        given = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
        if name in _SELECTING or (name == "where" and len(given) == 1 and not method):
            return True
        if name in _MADE:
            return _is_nothing(given[0] if given else None, name)
        if method and isinstance(node.func, ast.Attribute):
            given = [node.func.value, *given]
        if name in _JOINING and given:
            return self._joined(given[0])
        if name in _APART and given:
            return self.may_be(given[-1]) if name in ("gather", "index_select") else False
        if name in _REDUCING:
            return _is_partial(node, given) and self.may_be(given[0])
        return any(map(self.may_be, given))

    def _joined(self, given: ast.expr) -> bool:
        """`torch.cat([a, b])` of parts that may all be empty."""
        parts = given.elts if isinstance(given, (ast.List, ast.Tuple)) else []
        return bool(parts) and all(map(self.may_be, parts))

    def _name(self, node: ast.Name) -> bool:
        around = self._flow.around(node)
        if around is None:
            return False
        loop = self._loops.get((around.node, node.id))
        if loop is not None and self._has_empty_items(loop):
            return True
        return any(self._defined(d, node, around) for d in around.defuse.reaching(node))

    @cached_property
    def _loops(self) -> dict[tuple[ast.AST, str], ast.expr]:
        """What the variables of loops and comprehensions go over, by function and name."""
        found: dict[tuple[ast.AST, str], ast.expr] = {}
        for node in nodes_of(self._flow.tree, ast.For, ast.comprehension):
            around = self._flow.around(node.target)
            if isinstance(node.target, ast.Name) and around is not None:
                found[around.node, node.target.id] = node.iter
        return found

    def _has_empty_items(self, parts: ast.expr) -> bool:
        """`x.split(lengths)` of lengths that may be zero, and a list of selections."""
        if isinstance(parts, ast.Name):
            around = self._flow.around(parts)
            found = around.defuse.reaching(parts) if around is not None else ()
            return any(d.value is not None and self._has_empty_items(d.value) for d in found)
        if isinstance(parts, (ast.List, ast.Tuple)):
            return any(map(self.may_be, parts.elts))
        if isinstance(parts, ast.ListComp):
            return self.may_be(parts.elt)
        if not isinstance(parts, ast.Call):
            return False
        api = self._flow.symbols.api(parts.func)
        name = api.rpartition(".")[2]
        if not api.startswith("torch.") or name not in ("split", "split_with_sizes"):
            return False
        given = parts.args[0 if api.startswith("torch.Tensor.") else 1 :]
        sizes = given[0] if given else None
        whole = sizes is None or self._flow.symbols.type(sizes) is INT
        return not whole and not _are_positive(sizes)

    def _defined(self, definition: Definition, node: ast.Name, around: FunctionFlow) -> bool:
        if definition.kind == "parameter":
            given = self._flow.views.given(around.node, node.id)
            return any(flow.empties.may_be(value) for flow, value in given)
        if definition.kind == "augmented":
            before = around.defuse.reaching_at(definition.statement, definition.name)
            return any(self._defined(d, node, around) for d in before if d is not definition)
        if definition.value is not None:
            return self.may_be(definition.value)
        statement = definition.statement
        if not isinstance(statement, ast.Assign):
            return False
        place = _place(statement, definition.node)
        return self.may_be(place if place is not None else statement.value)


def _place(statement: ast.Assign, target: ast.AST) -> ast.expr | None:
    """The value of one target in `a, b = x[m], y[m]`."""
    for targets in statement.targets:
        values = statement.value
        if (
            isinstance(targets, ast.Tuple)
            and isinstance(values, ast.Tuple)
            and len(targets.elts) == len(values.elts)
        ):
            for one, value in zip(targets.elts, values.elts, strict=True):
                if one is target:
                    return value
    return None


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The operands of operators, comparisons and choices."""
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, (ast.NamedExpr, ast.Starred)):
        yield node.value


def _is_nothing(size: ast.expr | None, name: str) -> bool:
    """`torch.zeros(0, 4)`, `torch.tensor([])`, `torch.Tensor()`."""
    if size is None:
        return name.endswith("Tensor")
    if isinstance(size, (ast.List, ast.Tuple)):
        return not size.elts or (name not in ("tensor", "as_tensor") and _has_zero(size.elts))
    return name not in ("tensor", "as_tensor", "from_numpy", "new_tensor") and _has_zero([size])


def _may_meet(bounds: ast.Slice) -> bool:
    """`x[i : i + n]` beyond the end, `x[n:]`, `x[:0]`; settings of a network stay within."""
    if isinstance(bounds.upper, ast.Constant) and bounds.upper.value == 0:
        return True
    low = bounds.lower
    return isinstance(low, (ast.Name, ast.BinOp, ast.Call))


def _are_positive(sizes: ast.expr | None) -> bool:
    """Numbers that are written there, or a number."""
    if isinstance(sizes, (ast.List, ast.Tuple)):
        return all(isinstance(s, ast.Constant) and s.value != 0 for s in sizes.elts)
    return isinstance(sizes, (ast.Constant, ast.Attribute))


def _has_zero(sizes: list[ast.expr]) -> bool:
    return any(isinstance(s, ast.Constant) and s.value == 0 and s.value is not False for s in sizes)


def _is_partial(node: ast.Call, given: list[ast.expr]) -> bool:
    """`x.sum(0)`: along one axis."""
    return len(given) > 1 or any(k.arg in ("dim", "axis") for k in node.keywords)
