"""Does the output of a network depend on every parameter that it has?

`return self.fc2(self.fc1(x))` of a class with these two layers does. What a value *must* depend on
is followed through the method; a layer in a branch, one whose output nobody reads, and one that is
kept under a computed name may be passed by, and so may all that is not understood.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes

Deps = frozenset[str]
Methods = Mapping[str, ast.FunctionDef]
_NOTHING: Deps = frozenset()
# What has no gradient, or is no tensor.
_CUTS = frozenset(
    """
    shape size dtype device ndim dim numel nelement argmax argmin argsort sort topk long int short
    bool byte item tolist numpy detach eq ne lt gt le ge zeros_like ones_like empty_like rand_like
    randn_like full_like new_zeros new_ones new_tensor sign round floor ceil nonzero isnan unique
    """.split()  # noqa: SIM905 - a list would take a line for each name
)
_LIBRARIES = ("torch", "F", "nn", "functional")
_COLLECT = ("append", "extend", "insert")
_INPUT = "input"  # stands for what `forward` is given first
_PARTS = "parts"  # of a value whose parts may be used alone


def whole_outputs(methods: Methods, members: set[str]) -> bool:
    """Whether what `forward` returns depends on its first argument and on all the members,
    whichever way it takes.
    """
    forward = methods.get("forward")
    if forward is None:
        return False
    found = _Reading(methods, members).called(forward, [frozenset({_INPUT})])
    return _INPUT in found and all({f"{name}.1", f"{name}.2"} <= found for name in members)


def loss_reaches(function: ast.FunctionDef | ast.Module, network: str) -> bool:
    """Whether every loss whose backward pass a function runs depends on what the network of this
    name gives: a function that is called there is taken to use its arguments.
    """
    own = network.removeprefix("self.")
    members = {own} if own != network else set[str]()
    reading = _Reading({}, members, trusts=True)
    mark = frozenset({f"{own}.1"})
    reading.run(function.body, {} if members else {network: mark})
    return bool(reading.losses) and all(mark <= loss for loss in reading.losses)


class _Reading:
    """Members that values depend on. One that is called for each of its parts in turn has two
    marks: the second round must not lose what the first one brought.
    """

    def __init__(self, methods: Methods, members: set[str], *, trusts: bool = False) -> None:
        self._methods = methods
        self._members = members
        self._trusts = trusts  # functions that are not known
        self._active: list[str] = []
        self.losses: list[Deps] = []  # values whose backward pass is run

    def run(self, body: Sequence[ast.stmt], known: dict[str, Deps]) -> None:
        self._body(body, known, [])

    def called(self, method: ast.FunctionDef, given: Sequence[Deps]) -> Deps:
        """What each value that a method returns depends on."""
        if method.name in self._active or _is_opaque(method):
            return _NOTHING  # it calls itself
        self._active.append(method.name)
        names = [argument.arg for argument in method.args.args[1:]]
        known = dict(zip(names, given, strict=False))
        returned: list[Deps] = []
        ended = self._body(method.body, known, returned)
        self._active.pop()
        if not returned or not ended:
            return _NOTHING
        found = frozenset.intersection(*returned)
        return _NOTHING if _PARTS in found else found

    def _body(self, body: Iterable[ast.stmt], known: dict[str, Deps], returned: list[Deps]) -> bool:
        """Whether it always ends with a return."""
        for statement in body:
            if isinstance(statement, ast.Return):
                returned.append(self._each(statement.value, known))
                return True
            if isinstance(statement, ast.Raise):
                return True
            if isinstance(statement, ast.If):
                if self._branch(statement, known, returned):
                    return True
            elif isinstance(statement, ast.For):
                self._loop(statement, known, returned)
            elif isinstance(statement, ast.With):
                if self._body(statement.body, known, returned):
                    return True
            else:
                self._simple(statement, known)
        return False

    def _simple(self, statement: ast.stmt, known: dict[str, Deps]) -> None:
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            old = known.get(statement.target.id, _NOTHING)
            known[statement.target.id] = old | self._value(statement.value, known)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                self._bind(target, statement.value, known)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            called = statement.value.func
            if isinstance(called, ast.Attribute) and called.attr == "backward":
                self.losses.append(self._value(called.value, known))
            elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                more = self._listed(statement.value.args, known)
                if called.attr in _COLLECT:
                    name = called.value.id
                    known[name] = known.get(name, _NOTHING) | more | {_PARTS}
        elif not isinstance(statement, ast.Expr | ast.Assert | ast.Pass):
            for name in _bound_in([statement]):
                known[name] = _NOTHING

    def _bind(self, target: ast.expr, value: ast.expr, known: dict[str, Deps]) -> None:
        if isinstance(target, ast.Name):
            known[target.id] = self._value(value, known)
        elif isinstance(target, ast.Tuple | ast.List):
            same = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
            parts = (
                value.elts if same and isinstance(value, ast.Tuple) else [value] * len(target.elts)
            )
            found = [_whole(self._value(part, known)) for part in parts]
            for one, deps in zip(target.elts, found, strict=True):
                known.update(dict.fromkeys(_names_in(one), deps))

    def _branch(self, node: ast.If, known: dict[str, Deps], returned: list[Deps]) -> bool:
        there = self._is_there(node.test)
        if there is not None:
            return self._body(node.body if there else node.orelse, known, returned)
        one, other = dict(known), dict(known)
        ends = self._body(node.body, one, returned), self._body(node.orelse, other, returned)
        left = [way for way, ended in zip((one, other), ends, strict=True) if not ended]
        if left:
            _join(known, left)
        return all(ends)

    def _loop(self, node: ast.For, known: dict[str, Deps], returned: list[Deps]) -> None:
        """`for layer in self.layers: x = layer(x)` runs for each of them; another loop may not."""
        jumps = any(isinstance(n, ast.Break | ast.Continue | ast.Return) for n in all_nodes(node))
        member = "" if jumps else self._looped(node.iter)
        after = dict(known)
        for number in (1, 2):
            mark = frozenset({f"{member}.{number}"}) if member else _NOTHING
            after.update(dict.fromkeys(_names_in(node.target), mark))
            self._body(node.body, after, returned)
        if member:
            known.update(after)
        else:
            _join(known, [dict(known), after])

    def _looped(self, value: ast.expr) -> str:
        """The member that is gone through: `self.layers`, `enumerate(self.layers)`."""
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "enumerate":
            value = value.args[0]
        name = own_attribute(value)
        return name if name in self._members else ""

    def _is_there(self, test: ast.expr) -> bool | None:
        """How a question after a member ends, where there is one: `self.downsample is not None`."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._is_there(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            right = test.comparators[0]
            none = isinstance(right, ast.Constant) and right.value is None
            if none and own_attribute(test.left) in self._members:
                return isinstance(test.ops[0], ast.IsNot)
            return None
        return True if own_attribute(test) in self._members else None

    def _each(self, value: ast.expr | None, known: dict[str, Deps]) -> Deps:
        """What a result depends on, and each part of it, since the caller may use one alone."""
        if value is None:
            return _NOTHING
        if isinstance(value, ast.Tuple):
            return frozenset.intersection(*(self._each(one, known) for one in value.elts))
        return self._value(value, known)

    def _listed(self, values: Iterable[ast.expr], known: dict[str, Deps]) -> Deps:
        return _NOTHING.union(*(self._value(one, known) for one in values))

    def _value(self, value: ast.expr, known: dict[str, Deps]) -> Deps:
        if isinstance(value, ast.Name):
            return known.get(value.id, _NOTHING)
        if isinstance(value, ast.Call):
            return self._call(value, known)
        if isinstance(value, ast.Attribute):
            name = own_attribute(value)
            if name:
                return self._member(name)
            part = value.attr in _CUTS or own_attribute(value.value)
            return _NOTHING if part else _whole(self._value(value.value, known))
        if isinstance(value, ast.Subscript):
            part = own_attribute(value.value)
            return _NOTHING if part else _whole(self._value(value.value, known))
        if isinstance(value, ast.IfExp):
            there = self._is_there(value.test)
            sides = [self._value(value.body, known), self._value(value.orelse, known)]
            return sides[0] & sides[1] if there is None else sides[0 if there else 1]
        if isinstance(value, ast.ListComp | ast.GeneratorExp):
            return self._comprehension(value, known)
        if isinstance(value, ast.BinOp | ast.UnaryOp | ast.Tuple | ast.List | ast.Starred):
            inner = [n for n in ast.iter_child_nodes(value) if isinstance(n, ast.expr)]
            found = self._listed(inner, known)
            return found | {_PARTS} if isinstance(value, ast.Tuple | ast.List) else found
        return _NOTHING

    def _comprehension(
        self, value: ast.ListComp | ast.GeneratorExp, known: dict[str, Deps]
    ) -> Deps:
        (first, *others) = value.generators
        if others or first.ifs:
            return _NOTHING
        member = self._looped(first.iter)
        marks = self._member(member) if member else self._value(first.iter, known)
        inside = {**known, **dict.fromkeys(_names_in(first.target), _whole(marks))}
        return self._value(value.elt, inside) | {_PARTS}

    def _member(self, name: str) -> Deps:
        return frozenset({f"{name}.1", f"{name}.2"}) if name in self._members else _NOTHING

    def _call(self, call: ast.Call, known: dict[str, Deps]) -> Deps:
        """A layer is taken to use its first argument, a function of torch's all of them."""
        given = [self._value(one, known) for one in call.args]
        everything = _NOTHING.union(*given, *(self._value(k.value, known) for k in call.keywords))
        first = (given[0] if given and not self._trusts else everything) - {_PARTS}
        called = call.func
        own = own_attribute(called)
        if own in self._methods:
            return _NOTHING if call.keywords else self.called(self._methods[own], given)
        if own:
            return first | self._member(own)
        if isinstance(called, ast.Name):
            there = self._trusts or called.id in known
            return first | known.get(called.id, _NOTHING) if there else _NOTHING
        if not isinstance(called, ast.Attribute) or called.attr in _CUTS:
            return _NOTHING
        return self._method(called, everything, known)

    def _method(self, called: ast.Attribute, everything: Deps, known: dict[str, Deps]) -> Deps:
        """`torch.relu(x)`, `x.view(-1)`, `self.layers[0].conv(x)`."""
        root = _root(called.value)
        if isinstance(root, ast.Name) and root.id not in known:
            return everything - {_PARTS} if self._trusts or root.id in _LIBRARIES else _NOTHING
        if own_attribute(called.value) or isinstance(root, ast.Call):
            inside = isinstance(root, ast.Call) and getattr(root.func, "id", "") != "super"
            return self._value(called.value, known) | everything if inside else _NOTHING
        return (everything | self._value(called.value, known)) - {_PARTS}


def _root(node: ast.expr) -> ast.expr:
    """`torch` of `torch.nn.functional`"""
    while isinstance(node, ast.Attribute) and not own_attribute(node):
        node = node.value
    return node


def _whole(deps: Deps) -> Deps:
    """Of a value that may be one part alone."""
    return _NOTHING if _PARTS in deps else deps


def own_attribute(node: ast.AST) -> str:
    """`a` of `self.a`"""
    owner = node.value if isinstance(node, ast.Attribute) else None
    return node.attr if name_of(owner) == "self" else ""  # type: ignore[attr-defined]


def _is_opaque(method: ast.FunctionDef) -> bool:
    return bool(method.decorator_list) or any(
        isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in all_nodes(method)
    )


def _join(known: dict[str, Deps], ways: Sequence[dict[str, Deps]]) -> None:
    """What holds on every way."""
    names = {name for way in ways for name in way}
    for name in names:
        known[name] = frozenset.intersection(*(way.get(name, _NOTHING) for way in ways))


def _bound_in(statements: Iterable[ast.stmt]) -> set[str]:
    return {name for one in statements for node in all_nodes(one) for name in _stored(node)}


def _stored(node: ast.AST) -> list[str]:
    return [node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else []


def _names_in(target: ast.expr) -> list[str]:
    return [node.id for node in all_nodes(target) if isinstance(node, ast.Name)]
