"""Evaluate expressions abstractly: what each is, and which torch APIs it uses on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, ClassVar

from migrate.resolve.annotations import annotated, quoted_expression
from migrate.resolve.arithmetic import arithmetic
from migrate.resolve.class_tests import SEVERAL
from migrate.resolve.held_modules import modules_in, one_member
from migrate.resolve.items import item_at
from migrate.resolve.membership_tests import listing_module, tested_api
from migrate.resolve.numpy_results import is_numpy
from migrate.resolve.tensor_evidence import sized
from migrate.resolve.types import item_of
from migrate.resolve.unknown_members import UnknownMembers
from migrate.resolve.unpacking import with_spread
from migrate.resolve.values import (
    BOOL,
    FOREIGN,
    NONE,
    STR,
    TENSOR,
    UNKNOWN,
    ClassOf,
    External,
    Instance,
    Known,
    ListOf,
    ProjectFunction,
    ProjectModule,
    TupleOf,
    Union,
    Value,
    external,
    is_tensor,
    join,
    options_of,
    type_of_constant,
)

_GENERIC_ROOTS = frozenset({"typing", "builtins", "collections", "typing_extensions"})

# A union written in place is built anew at every test, and most expressions are tested.
NAMES = (ast.Name, ast.Attribute)
_HOLDERS = frozenset({External, Union})  # of modules of libraries


_EVALUATORS: dict[type[ast.AST], str] = {
    ast.Name: "_name",
    ast.Attribute: "_attribute",
    ast.Call: "call",
    ast.Constant: "_constant",
    ast.Tuple: "_tuple",
    ast.List: "_list",
    ast.Set: "_list",
    ast.Dict: "_dict",
    ast.Subscript: "_subscript",
    ast.BinOp: "_binary",
    ast.UnaryOp: "_unary",
    ast.BoolOp: "_boolean",
    ast.Compare: "_compare",
    ast.IfExp: "_choice",
    ast.Lambda: "_lambda",
    ast.ListComp: "_comprehension",
    ast.SetComp: "_comprehension",
    ast.GeneratorExp: "_comprehension",
    ast.DictComp: "_dict_comprehension",
    ast.Starred: "_inner",
    ast.NamedExpr: "_named",
    ast.JoinedStr: "_joined",
    ast.Await: "_inner",
    ast.Yield: "_yield",
    ast.YieldFrom: "_yield",
    ast.Slice: "_slice",
}


class Expressions(UnknownMembers):
    """Expression half of the interpreter; calls and statements are in modules of their own."""

    _evaluators: ClassVar[dict[type[ast.AST], Callable[[Any, Any], Value]]]

    def __init_subclass__(cls) -> None:
        # Functions, not bound methods: an interpreter that holds itself would outlive its file.
        cls._evaluators = {kind: getattr(cls, name) for kind, name in _EVALUATORS.items()}

    def call(self, node: ast.Call) -> Value:
        raise NotImplementedError

    def evaluate(self, node: ast.expr) -> Value:
        evaluator = self._evaluators.get(node.__class__)
        value = evaluator(self, node) if evaluator else self._children(node)
        if self.types is not None:
            self.types[node] = value
        return value

    def _name(self, node: ast.Name) -> Value:
        value, direct = self.lookup(node.id)
        if direct and value.__class__ is External:
            self.record(node, value.name, "value")
        return value

    def _attribute(self, node: ast.Attribute) -> Value:
        value, direct = self.base(node, "value")
        if direct and value.__class__ is External:
            self.record(node, value.name, "value")
        return value

    def reference(self, node: ast.Name | ast.Attribute, form: str = "value") -> Value:
        """A name or a chain of attributes; the whole chain is one use of one API."""
        value, direct = self.base(node, form)
        if direct and value.__class__ is External:
            self.record(node, value.name, form)
        if self.types is not None:
            self.types[node] = value
        return value

    def base(self, node: ast.expr, form: str = "attribute") -> tuple[Value, bool]:
        """The value of a chain's start, and whether imports alone lead to it."""
        kind = node.__class__
        if kind is ast.Name:
            return self.lookup(node.id)  # type: ignore[attr-defined]
        if kind is ast.Attribute:
            assert isinstance(node, ast.Attribute)
            inner = node.value
            if inner.__class__ is ast.Name:
                owner, direct = self.lookup(inner.id)
            else:
                owner, direct = self.base(inner)
            if self.types is not None:
                self.types[inner] = owner
            if direct and isinstance(owner, External):
                held = self.constant(owner.name)
                if held is not None:  # torch.__version__.split("+"): a member of a plain value
                    self.record(inner, owner.name, "value")
                    return self.attribute(node, held, form), False
                return external(f"{owner.name}.{node.attr}"), True
            if isinstance(owner, ProjectModule):
                return self.member_of_module(owner.name, node.attr)
            if owner.__class__ in _HOLDERS:
                modules = modules_in(owner, self.table)
                if modules:
                    return self._of_held_module(node, modules, form)
            return self.attribute(node, owner, form), False
        return self.evaluate(node), False

    def _of_held_module(
        self, node: ast.Attribute, modules: tuple[str, ...], form: str
    ) -> tuple[Value, bool]:
        """A member of a module that a value holds; direct where it is known which one is meant."""
        member = one_member(modules, node.attr, self.table)
        if member:
            return external(member), True
        members = [f"{module}.{node.attr}" for module in modules]
        if not set(members) <= self.table.namespaces:
            self.record(node, members[0], form, tuple(members[1:]))
            return UNKNOWN, False
        found: Value = external(members[0])
        for other in members[1:]:
            found = join(found, external(other))
        return found, False

    # Literals -----------------------------------------------------------------------------------

    def _constant(self, node: ast.Constant) -> Value:
        if node.value is None:
            return NONE
        return Known(node.value)

    def _tuple(self, node: ast.Tuple) -> Value:
        items = tuple([self.evaluate(item) for item in node.elts])
        for item in node.elts:
            if item.__class__ is ast.Starred:
                return with_spread(node.elts, items)
        return TupleOf(items)

    def _list(self, node: ast.List | ast.Set) -> Value:
        item: Value = UNKNOWN
        for element in node.elts:
            value = self.evaluate(element)
            if value.__class__ is Known and type_of_constant(value) is item:
                continue  # of a thousand names in a list all but the first say nothing new
            if isinstance(element, ast.Starred):
                value = item_of(value)
            item = join(item, type_of_constant(value) if isinstance(value, Known) else value)
        return ListOf(item)

    def _dict(self, node: ast.Dict) -> Value:
        item: Value = UNKNOWN
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                self.evaluate(key)
            item = join(item, self.evaluate(value))
        return ListOf(item, "dict")

    def _joined(self, node: ast.JoinedStr) -> Value:
        self._children(node)
        return STR

    # Operators ----------------------------------------------------------------------------------

    def _binary(self, node: ast.BinOp) -> Value:
        """A sum of a thousand terms is a tree as deep: its left spine is walked by a loop."""
        spine = [node]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        value = self.evaluate(spine[-1].left)
        while True:
            part = spine.pop()
            value = self._operator(part, value, self.evaluate(part.right))
            if not spine:
                return value
            if self.types is not None:
                self.types[part] = value

    def _operator(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        if is_tensor(left) or is_tensor(right):
            return TENSOR
        if left is FOREIGN or right is FOREIGN:
            return FOREIGN
        for side in (left, right):
            for option in options_of(side):
                if isinstance(option, (ListOf, TupleOf)):
                    # (1, 2) + shape, [x] * n: a sequence of joined items
                    other = right if side is left else left
                    mixed = join(item_of(option), item_of(other))
                    kind = option.kind if isinstance(option, ListOf) else "tuple"
                    return ListOf(mixed, kind)
        for side in (left, right):
            if isinstance(side, Instance) and is_numpy(side.cls):
                return side
        return arithmetic(node.op, left, right)

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            return BOOL
        if (
            isinstance(node.op, ast.USub)
            and isinstance(value, Known)
            and isinstance(value.value, (int, float))
        ):
            return Known(-value.value)
        return value

    def _boolean(self, node: ast.BoolOp) -> Value:
        result: Value = UNKNOWN
        for index, part in enumerate(node.values):
            value = self.evaluate(part)
            if isinstance(node.op, ast.Or) or index == len(node.values) - 1:
                result = join(result, value)
            if isinstance(node.op, ast.And):
                self.narrow(part, True)
        return result

    def _compare(self, node: ast.Compare) -> Value:
        module = listing_module(node)
        if module is not None:
            api = tested_api(node, self.evaluate(module), self.table)
            if api and self.table.get(self.canonical(api)) is not None:
                self.usages.pop(module, None)
                self.record(node, api, "exists")
                return BOOL
        form = (
            "type"
            if any(
                isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.In)) for op in node.ops
            )
            else ""
        )
        values = []
        for part in (node.left, *node.comparators):
            if form and isinstance(part, NAMES):
                values.append(self.reference(part, form))
            elif values and isinstance(values[0], ClassOf) and isinstance(part, SEVERAL):
                for element in part.elts:
                    if isinstance(element, NAMES):
                        self.reference(element, "type")
                    else:
                        self.evaluate(element)
            else:
                values.append(self.evaluate(part))
        identity = all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
        return TENSOR if not identity and any(is_tensor(value) for value in values) else BOOL

    def _choice(self, node: ast.IfExp) -> Value:
        self.evaluate(node.test)
        before = self.frame.snapshot()
        self.narrow(node.test, True)
        body = self.evaluate(node.body)
        self.frame.restore(before)
        self.narrow(node.test, False)
        other = self.evaluate(node.orelse)
        self.frame.restore(before)
        return join(body, other)

    def _slice(self, node: ast.Slice) -> Value:
        self._children(node)
        return UNKNOWN

    def _believe_sized(self, node: ast.expr) -> None:
        """`b, c = x.size()`: only a tensor's size has items."""
        for tensor in sized(node):
            self.believe(tensor, TENSOR)

    def _subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.slice, (ast.Constant, ast.UnaryOp)):
            self._believe_sized(node.value)
        owner = self.evaluate(node.value)
        if isinstance(owner, External) and owner.name.partition(".")[0] in _GENERIC_ROOTS:
            # A type alias: Outputs = Dict[str, Tensor]
            for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
                self.annotation(part)
            return owner
        key = self.evaluate(node.slice)
        if owner is FOREIGN:
            return FOREIGN
        result: Value = UNKNOWN
        sliced = isinstance(node.slice, ast.Slice)
        for option in options_of(owner):
            found = item_at(option, key, sliced)
            result = join(result, found) if found is not None else result
        return result

    def _inner(self, node: ast.Starred | ast.Await) -> Value:
        return self.evaluate(node.value)

    def _named(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.assign(node.target, value)
        return value

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Value:
        value = self.evaluate(node.value) if node.value is not None else NONE
        self.yielded(value)
        return UNKNOWN

    # Inner scopes -------------------------------------------------------------------------------

    def _lambda(self, node: ast.Lambda) -> Value:
        function = ProjectFunction(
            node, self.module, self.frame, f"{self.frame.scope}.<lambda>".lstrip("."), None
        )
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.evaluate(default)
        self.module.functions.append(function)
        return function

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        before = self.frame.snapshot()
        self._generators(node.generators)
        item = self.evaluate(node.elt)
        self.frame.restore(before)
        return ListOf(item, "iterator" if isinstance(node, ast.GeneratorExp) else "list")

    def _dict_comprehension(self, node: ast.DictComp) -> Value:
        before = self.frame.snapshot()
        self._generators(node.generators)
        self.evaluate(node.key)
        item = self.evaluate(node.value)
        self.frame.restore(before)
        return ListOf(item, "dict")

    def _generators(self, generators: list[ast.comprehension]) -> None:
        for generator in generators:
            self.assign(generator.target, item_of(self.evaluate(generator.iter)))
            for test in generator.ifs:
                self.evaluate(test)
                self.narrow(test, True)

    def _children(self, node: ast.AST) -> Value:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child)
            elif isinstance(child, (ast.FormattedValue, ast.keyword)):
                self._children(child)
        return UNKNOWN

    # Annotations --------------------------------------------------------------------------------

    def annotation(self, node: ast.expr | None) -> Value:
        """What a variable with this annotation holds; torch names in it count as annotations."""
        return UNKNOWN if node is None else annotated(node, self)

    def string_annotation(self, node: ast.Constant) -> Value:
        """A quoted annotation is read like any other; its names are placed at the string."""
        if node in self._quoted:
            return self.annotation(self._quoted[node])
        self._quoted[node] = None
        tree = quoted_expression(node)
        if tree is None:
            return UNKNOWN
        self._quoted[node] = tree
        self.quoted.append((str(node.value), tree))
        return self.annotation(tree)
