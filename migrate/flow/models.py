"""Which networks a body runs, and by which names."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import TYPE_CHECKING

from migrate.flow.blocks import Home, own_calls, statements_below
from migrate.flow.losses import is_loss
from migrate.flow.names import binds
from migrate.resolve.members import is_module_value
from migrate.resolve.values import (
    UNKNOWN,
    Instance,
    ListOf,
    ProjectClass,
    ProjectFunction,
    options_of,
)
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow import Flow

_LOOKING = ("isinstance", "type", "print", "id", "len", "getattr", "hasattr", "setattr", "repr")
_ADDING = ("add_module", "append", "insert", "extend", "register_module")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def models_called(
    calls: list[ast.Call],
    flow: Flow,
    *,
    handed_on: bool = True,
    left_out: Collection[ast.AST] = (),
) -> list[str]:
    """Modules that are called or handed on; losses, and what these names stand for, left out."""
    found: dict[str, None] = {}
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id in _LOOKING:
            continue
        given = call.args if handed_on and not flow.symbols.api(call.func) else []
        called = call.func
        if isinstance(called, ast.Attribute) and called.attr == "forward":
            called = called.value
        for node in (called, *given):
            if root_of(node) in left_out:
                continue
            if is_path(node) and _is_model(node, flow) and ast.unparse(node) != "self":
                found[ast.unparse(node)] = None
        kind = flow.symbols.type(call.func)
        own = any(isinstance(one, (ProjectClass, ProjectFunction)) for one in options_of(kind))
        known = own or root_of(call.func) in left_out
        if is_path(call.func) and _sounds_like_model(call.func) and not known:
            found[ast.unparse(call.func)] = None
    return list(found)


def is_path(node: ast.expr) -> bool:
    """`model`, `self.model`, `self.nets.generator`."""
    return isinstance(root_of(node), ast.Name)


def root_of(node: ast.expr) -> ast.expr:
    """`self` of `self.nets.generator`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _is_model(node: ast.expr, flow: Flow) -> bool:
    value = flow.symbols.type(node)
    return is_module_value(value) and not is_loss(node, value)


def _sounds_like_model(node: ast.expr) -> bool:
    return ast.unparse(node).rpartition(".")[2].lower() in ("model", "net", "network")


def without_place(home: Home, flow: Flow) -> list[str]:
    """Models that run and have no name of their own: `nets[0](x)`, `Net()(x)`, `m(x) for m in`."""
    short_lived = short_lived_names(home)
    found = []
    for call in own_calls(home.body):
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr == "forward":
            function = function.value
        if _is_given_model(function, flow):
            found.append(ast.unparse(function))
        if not is_module_value(flow.symbols.type(function)) or not _is_model(function, flow):
            continue
        name = ast.unparse(function)
        if not is_path(function) or root_of(function) in short_lived:
            found.append(name)
    return [*found, *_put_into_others(home, flow)]


def _is_given_model(node: ast.expr, flow: Flow) -> bool:
    """`pair.online(x)`, where the object was given a network when it was made."""
    if not isinstance(node, ast.Attribute) or flow.symbols.type(node) is not UNKNOWN:
        return False
    classes = _classes_of(node.value, flow)
    return any(_keeps_network(cls, node.attr, flow) for cls in classes if node.attr not in cls.body)


def _classes_of(node: ast.expr, flow: Flow) -> list[ProjectClass]:
    kinds = options_of(flow.symbols.type(node))
    found = [kind.cls for kind in kinds if isinstance(kind, Instance)]
    return [cls for cls in found if isinstance(cls, ProjectClass)]


def _keeps_network(cls: ProjectClass, attribute: str, flow: Flow) -> bool:
    """The attribute is made of an argument, and networks are among those that are given."""
    return any(
        _reads_argument(value, method.node) for value, method in _assigned(cls, attribute, flow)
    ) and any(_is_given_network(call, flow) for call in flow.calls.constructions(cls))


def _assigned(
    cls: ProjectClass, attribute: str, flow: Flow
) -> list[tuple[ast.expr, ProjectFunction]]:
    return flow.effects.layers.assigned(cls, attribute)


def _reads_argument(value: ast.expr, method: ast.AST) -> bool:
    names = {node.arg for node in all_nodes(method) if isinstance(node, ast.arg)} - {"self"}
    return any(isinstance(n, ast.Name) and n.id in names for n in all_nodes(value))


def _is_given_network(call: ast.Call, flow: Flow) -> bool:
    return any(is_module_value(flow.symbols.type(argument)) for argument in _given(call))


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _put_into_others(home: Home, flow: Flow) -> list[str]:
    """Layers that a built network is given: `net[1] = nn.Dropout()`, `net.add_module("bn", bn)`."""
    found = []
    for _, statement in statements_below(home.body):
        values: list[ast.expr] = []
        call = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign) and any(
            isinstance(target, (ast.Subscript, ast.Attribute))
            and is_module_value(flow.symbols.type(target.value))
            for target in statement.targets
        ):
            values = [statement.value]
        elif isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            added = call.func.attr in _ADDING
            values = call.args if added else []
        found += [
            ast.unparse(value)
            for value in values
            if isinstance(value, ast.Call) and is_module_value(flow.symbols.type(value))
        ]
    return found


def models_behind(called: ast.expr, tree: ast.AST, flow: Flow) -> list[str]:
    """What a call runs, in names that stand outside of `tree` too: `nets` and `*layers` for the
    `net` of `[net(x) for net in nets]`.
    """
    loops = [n for n in all_nodes(tree) if isinstance(n, (ast.For, ast.comprehension))]
    root = ast.unparse(root_of(called))
    sequences = [n.iter for n in loops if root in binds(n.target)]
    if not sequences:
        return [ast.unparse(called)]
    found = []
    for part in (node for sequence in sequences for node in all_nodes(sequence)):
        if isinstance(part, (ast.Name, ast.Attribute)) and is_path(part):
            kind = flow.symbols.type(part)
            if is_module_value(kind):
                found.append(ast.unparse(part))
            elif isinstance(kind, ListOf):
                found.append(f"*{ast.unparse(part)}")
    return found


def short_lived_names(home: Home) -> set[ast.AST]:
    """The names `m` inside of `[m(x) for m in layers]` and `lambda m: m(x)`."""
    found: set[ast.AST] = set()
    for node in (n for s in home.body for n in all_nodes(s)):
        if isinstance(node, ast.Lambda):
            bound = {one.arg for one in all_nodes(node.args) if isinstance(one, ast.arg)}
        elif isinstance(node, _COMPREHENSIONS):
            targets = [part.target for part in node.generators]
            bound = {n.id for t in targets for n in all_nodes(t) if isinstance(n, ast.Name)}
        else:
            continue
        found |= {n for n in all_nodes(node) if isinstance(n, ast.Name) and n.id in bound}
    return found


def runs_models(home: Home, inside: set[ast.AST], flow: Flow) -> bool:
    if home in inside:
        return False
    built = [
        call
        for _, statement in statements_below(home.body)
        if isinstance(statement, (ast.Assign, ast.Expr))
        for call in all_nodes(statement)
        if isinstance(call, ast.Call) and is_module_value(flow.symbols.type(call))
    ]
    called = models_called(own_calls(home.body), flow)
    return bool(built or called or without_place(home, flow))


def parameters_of(home: Home) -> list[str]:
    """The names of a function's parameters, without `*args` and `**kwargs`."""
    if isinstance(home, ast.Module):
        return []
    arguments = home.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
