"""How a list of layers may begin: `layers = []`, `if first: layers.append(nn.ReLU(True))`, then
`nn.Sequential(*layers)`.

Only the first few layers matter to the input, so a list is a set of possible beginnings.
"""

from __future__ import annotations

import ast

from migrate.syntax.ast_index import all_nodes

Prefix = tuple[ast.expr | None, ...]  # None: a layer that is not known
_LENGTH = 4
_OPTIONS = 16
_EMPTY: frozenset[Prefix] = frozenset({()})
_UNKNOWN: frozenset[Prefix] = frozenset({(None,)})
Prefixes = frozenset[Prefix]


def list_prefixes(call: ast.Call, scope: ast.AST) -> Prefixes:
    """The first arguments of `nn.Sequential(...)`."""
    found = _EMPTY
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            found = _joined(found, _of_expression(argument.value, call, scope))
        elif isinstance(argument, ast.Call) and _name(argument.func) == "OrderedDict":
            found = _joined(found, _ordered(argument, call, scope))
        elif isinstance(argument, ast.Name):
            one = frozenset({(argument,)})  # a layer, unless it is made as an OrderedDict
            body = getattr(scope, "body", [])
            named = _List(argument.id, call, scope, argument=argument)
            found = _joined(found, named.run(body, one)[0])
        else:
            found = _joined(found, frozenset({(argument,)}))
    return found


def _of_expression(node: ast.expr, call: ast.Call, scope: ast.AST) -> Prefixes:
    if isinstance(node, (ast.List, ast.Tuple)):
        found = _EMPTY
        for part in node.elts:
            if isinstance(part, ast.Starred):
                found = _joined(found, _of_expression(part.value, call, scope))
            else:
                found = _joined(found, frozenset({(part,)}))
        return found
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return frozenset({(node.elt, node.elt)})
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left = _of_expression(node.left, call, scope)
        return _joined(left, _of_expression(node.right, call, scope))
    if isinstance(node, ast.IfExp):
        return _of_expression(node.body, call, scope) | _of_expression(node.orelse, call, scope)
    if isinstance(node, ast.Name):
        return _List(node.id, call, scope).run(getattr(scope, "body", []), _UNKNOWN)[0]
    return _UNKNOWN


def _ordered(node: ast.Call, call: ast.Call, scope: ast.AST) -> Prefixes:
    """`OrderedDict([("relu", nn.ReLU()), ...])`."""
    first = node.args[0] if node.args else None
    if not isinstance(first, (ast.List, ast.Tuple)):
        return _UNKNOWN
    parts = [p.elts[1] for p in first.elts if isinstance(p, ast.Tuple) and len(p.elts) == 2]
    return frozenset({tuple(parts[:_LENGTH])}) if len(parts) == len(first.elts) else _UNKNOWN


def _joined(left: Prefixes, right: Prefixes) -> Prefixes:
    return _bounded(frozenset((*a, *b)[:_LENGTH] for a in left for b in right))


def _bounded(found: Prefixes) -> Prefixes:
    return found if len(found) <= _OPTIONS else frozenset({*sorted(found, key=len)[:_OPTIONS]})


class _List:
    """Follows what the statements of a function do to one list, up to the call that takes it."""

    def __init__(
        self, name: str, call: ast.Call, scope: ast.AST, *, argument: ast.Name | None = None
    ) -> None:
        self.name = name
        self.argument = argument  # what is passed: a layer, or an OrderedDict of them
        self.call = call
        self.scope = scope

    def run(self, body: list[ast.stmt], state: Prefixes) -> tuple[Prefixes, bool]:
        """The list behind the statements, and whether the call has been met."""
        for statement in body:
            state, met = self._statement(statement, state)
            if met:
                return state, True
        return state, False

    def _statement(self, node: ast.stmt, state: Prefixes) -> tuple[Prefixes, bool]:
        if isinstance(node, ast.If):
            yes, met = self.run(node.body, state)
            if met:
                return yes, True
            no, met = self.run(node.orelse, state)
            return (no, True) if met else (_bounded(yes | no), False)
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            once, met = self.run(node.body, state)
            return (once, True) if met else (_bounded(state | once), False)
        if isinstance(node, (ast.With, ast.Try)):
            return self.run(node.body, state)
        if any(part is self.call for part in all_nodes(node)):
            return state, True
        return self._simple(node, state), False

    def _simple(self, node: ast.stmt, state: Prefixes) -> Prefixes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            return self._assigned(node.targets[0], node.value, state)
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            return self._assigned(node.target, node.value, state)
        if isinstance(node, ast.AugAssign) and _name(node.target) == self.name:
            return _joined(state, _of_expression(node.value, self.call, self.scope))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return self._method(node.value, state)
        return state

    def _assigned(self, target: ast.expr, value: ast.expr, state: Prefixes) -> Prefixes:
        if self.argument is not None:
            return self._pairs(target, value, state, self.argument)
        if _name(target) == self.name:
            if (
                isinstance(value, ast.Subscript)
                and _name(value.value) == self.name
                and isinstance(value.slice, ast.Slice)
                and isinstance(value.slice.lower, ast.Constant)
                and isinstance(value.slice.lower.value, int)
            ):
                start = value.slice.lower.value
                return frozenset(prefix[start:] for prefix in state)
            if isinstance(value, ast.BinOp) and _name(value.left) == self.name:
                return _joined(state, _of_expression(value.right, self.call, self.scope))
            own = any(_name(part) == self.name for part in all_nodes(value))
            return _UNKNOWN if own else _of_expression(value, self.call, self.scope)
        if isinstance(target, ast.Subscript) and _name(target.value) == self.name:
            index = target.slice
            if isinstance(index, ast.Constant) and isinstance(index.value, int):
                at = index.value
                return frozenset((*p[:at], value, *p[at + 1 :]) for p in state)
        return state

    def _pairs(
        self, target: ast.expr, value: ast.expr, state: Prefixes, argument: ast.Name
    ) -> Prefixes:
        """`blocks = OrderedDict()`, then `blocks["act"] = nn.ReLU(True)`."""
        if _name(target) == self.name:
            ordered = isinstance(value, ast.Call) and _name(value.func) in ("OrderedDict", "dict")
            if isinstance(value, ast.Dict):
                return frozenset({tuple(value.values[:_LENGTH])})
            if not ordered or not isinstance(value, ast.Call):
                return frozenset({(argument,)})
            return _ordered(value, self.call, self.scope) if value.args else _EMPTY
        if isinstance(target, ast.Subscript) and _name(target.value) == self.name:
            return _joined(state, frozenset({(value,)}))
        return state

    def _method(self, call: ast.Call, state: Prefixes) -> Prefixes:
        function = call.func
        if not isinstance(function, ast.Attribute) or _name(function.value) != self.name:
            return state
        if function.attr == "append" and call.args:
            return _joined(state, frozenset({(call.args[0],)}))
        if function.attr == "extend" and call.args:
            return _joined(state, _of_expression(call.args[0], self.call, self.scope))
        if function.attr == "insert" and len(call.args) == 2:
            return frozenset(((call.args[1], *p)[:_LENGTH]) for p in state)
        return state


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""
