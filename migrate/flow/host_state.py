"""State that is no tensor's and that evaluating a piece of code moves on: the stream of a generator
of random numbers, the place of an iterator. Two pieces that move the same on must keep their order.
"""

from __future__ import annotations

import ast
from collections import deque
from typing import TYPE_CHECKING

from migrate.flow.effects import arguments_given
from migrate.flow.names import binds
from migrate.resolve.members import is_module_value
from migrate.resolve.values import External, ProjectFunction
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow import Flow
    from migrate.flow.symbols import Target

_DEPTH = 3  # functions that call functions
_STREAMS = ("numpy.random.", "random.")
# Members of those modules that draw nothing from the module's own stream.
_OWN = frozenset({"default_rng", "RandomState", "Generator", "SeedSequence", "Random", "seed"})
_OF_ARRAYS = frozenset({"astype", "tobytes", "ravel", "compress", "searchsorted"})


def moved_on(node: ast.AST, flow: Flow, depth: int = _DEPTH) -> frozenset[str]:
    """`rng` of `rng.normal(2)`, `it` of `next(it)`, `numpy.random` of `np.random.rand()`, and what
    the functions of the program that are called in here move on.
    """
    found: set[str] = set()
    for call in all_nodes(node):
        if isinstance(call, ast.Call):
            found |= _by_call(call, flow, depth)
    return frozenset(found)


def _by_call(call: ast.Call, flow: Flow, depth: int) -> set[str]:
    function = call.func
    kind = flow.symbols.type(function)
    if isinstance(kind, External):
        return _by_library(kind.name, call)
    if is_module_value(kind):
        return set()
    targets = flow.symbols.targets(call)
    if targets:
        parts = [_by_target(call, target, flow, depth) for target in targets] if depth else []
        return set().union(*parts)
    if not isinstance(function, ast.Attribute) or flow.symbols.api(function):
        return set()
    owner = function.value
    if is_module_value(flow.symbols.type(owner)) or not _is_place(owner):
        return set()
    return set() if _only_reads(function.attr, flow) else {ast.unparse(owner)}


def _by_library(name: str, call: ast.Call) -> set[str]:
    if name == "builtins.next" and call.args and _is_place(call.args[0]):
        return {ast.unparse(call.args[0])}
    stream = next((one for one in _STREAMS if name.startswith(one)), "")
    return {stream} if stream and name.rpartition(".")[2] not in _OWN else set()


def _by_target(call: ast.Call, target: Target, flow: Flow, depth: int) -> set[str]:
    """What a function of the program moves on, in the words of its caller."""
    given = {
        name: ast.unparse(argument)
        for name, argument in arguments_given(call, target).items()
        if _is_place(argument)
    }
    if target.bound and isinstance(call.func, ast.Attribute) and _is_place(call.func.value):
        given["self"] = ast.unparse(call.func.value)
    own = _own_names(target.function)
    found = set()
    for part in _body(target.function):
        for key in moved_on(part, flow, depth - 1):
            root, dot, rest = key.partition(".")
            if root in given:
                found.add(given[root] + dot + rest)
            elif root not in own:
                found.add(key)
    return found


def _body(function: ProjectFunction) -> list[ast.AST]:
    body = function.node.body
    return list(body) if isinstance(body, list) else [body]


def _own_names(function: ProjectFunction) -> set[str]:
    """Parameters and what the function binds: made anew by every call."""
    arguments = function.node.args
    listed = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    extra = (one for one in (arguments.vararg, arguments.kwarg) if one is not None)
    names = {argument.arg for argument in (*listed, *extra)}
    return names.union(*(binds(part) for part in _body(function)))


def _is_place(node: ast.expr) -> bool:
    """`rng`, `self.rng`"""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _only_reads(method: str, flow: Flow) -> bool:
    """A method of tensors, arrays, texts or containers that changes nothing by itself; what puts
    items into a container is known elsewhere.
    """
    if method in _OF_ARRAYS or flow.table.get(f"torch.Tensor.{method}") is not None:
        return True
    return any(hasattr(kind, method) for kind in (deque, dict, list, set, str))
