"""Where compiled code meets a limit of Graph mode that no kind of node shows by itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from migrate.lower.container_limits import (
    COMPREHENSIONS,
    of_assignment,
    of_call,
    of_comprehension,
    of_dict,
    of_operator,
)
from migrate.lower.function import FUNCTIONS, CompiledFunction
from migrate.lower.inline_partials import partials
from migrate.lower.late_closures import late_captures
from migrate.lower.limits import Limit, by_syntax, limits
from migrate.lower.list_methods import METHODS
from migrate.lower.packed_uses import packed_uses
from migrate.resolve.members import class_is_module
from migrate.resolve.values import (
    External,
    ListOf,
    ProjectClass,
    ProjectFunction,
    is_tensor,
    options_of,
)
from migrate.syntax.access import is_store
from migrate.syntax.ast_index import all_nodes

_CHANGES = METHODS - {"copy"} | {"append", "clear", "pop", "update"}
# Python's own sources of change: compiled code sees what they gave the first time.
_FROZEN = ("random.", "numpy.random.", "time.time", "time.perf_counter", "datetime.datetime.now")
# Compiled for tensors, they are not: what a graph gives them is no array.
_DISTRIBUTIONS = "torch.distributions."
_FOREIGN = ("scipy.", "sklearn.", "skimage.", "cv2.", "PIL.", "pandas.", "networkx.", "lap.")
_REGISTER = frozenset({"register_buffer", "register_parameter", "add_module", "register_module"})
_COLLECTIONS = ("collections.defaultdict", "collections.deque", "collections.Counter")


class Met(NamedTuple):
    """A place that meets a limit, and what is written there."""

    node: ast.AST
    limit: Limit
    what: str

    @property
    def message(self) -> str:
        return self.limit.message.replace("{what}", self.what)


def limits_met(function: CompiledFunction) -> Iterator[Met]:
    """All limits that the function meets, each place once."""
    rows, kinds = limits(), by_syntax()
    for kind, nodes in function.by_kind.items():
        row, check = kinds.get(kind), _CHECKS.get(kind)
        if row is not None:
            yield from (Met(node, row, row.name.replace("-", " ")) for node in nodes)
        for node in nodes if check is not None else ():
            found = check(node, function) if check is not None else None
            if found is not None:
                yield Met(node, rows[found[0]], found[1])
    if ast.FunctionDef in function.by_kind or ast.Lambda in function.by_kind:
        for inner, _ in late_captures(function):
            yield Met(inner, rows["stored-closure"], "inner function")
    for statement, name, _ in partials(function):
        yield Met(statement, rows["partial-keywords"], f"{name}(...), a functools.partial,")
    for node in packed_uses(function):
        yield Met(node, rows["packed-sequence"], "packed sequence")
    if any(_wraps(decorator, function) for decorator in function.node.decorator_list):
        yield Met(function.node, rows["decorated-function"], f"{function.node.name}()")


def _wraps(decorator: ast.expr, function: CompiledFunction) -> bool:
    """A decorator of the program that gives another function in its place. Of a plain function,
    what is marked by functools.wraps is left out; a method loses its receiver with any.
    """
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    for option in options_of(function.value_of(called)):
        if isinstance(option, ProjectFunction):
            inner = [n for n in all_nodes(option.node) if isinstance(n, FUNCTIONS)][1:]
            marked = [n for n in inner if n.decorator_list]
            if marked or (inner and function.owner is not None):
                return True
    return False


def _loop(node: ast.AST, function: CompiledFunction) -> tuple[str, str] | None:
    if isinstance(node, (ast.For, ast.While)) and node.orelse:
        return "loop-else", "for-else" if isinstance(node, ast.For) else "while-else"
    return None


def _call(node: ast.AST, function: CompiledFunction) -> tuple[str, str] | None:
    assert isinstance(node, ast.Call)
    called = node.func
    if isinstance(called, ast.Attribute) and called.attr in _REGISTER:
        return "registering-in-forward", f"{called.attr}()"
    value = function.value_of(called)
    if isinstance(value, External):
        return _library_call(value.name, node, function) or of_call(node, function)
    if isinstance(value, ProjectClass):
        plain = not class_is_module(value) and not _is_error(value)
        return ("named-tuple", value.qualified) if plain else None
    if isinstance(called, ast.Attribute) and called.attr in _CHANGES:
        return _change(called, function)
    if isinstance(called, ast.Name) and called.id in _named_tuples(function):
        return "named-tuple", called.id
    return of_call(node, function)


def _is_error(cls: ProjectClass) -> bool:
    return any(base.endswith(("Error", "Exception", "Function")) for base in cls.library_bases())


def _named_tuples(function: CompiledFunction) -> set[str]:
    """`Out = namedtuple("Out", ...)` at the top of the file."""
    found: set[str] = set()
    for statement in function.source.tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            called = statement.value.func
            if getattr(called, "id", getattr(called, "attr", "")) == "namedtuple":
                found |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return found


def _library_call(name: str, node: ast.Call, function: CompiledFunction) -> tuple[str, str] | None:
    if name == "builtins.range":
        # The number of rounds must be known when the graph is built.
        if any(is_tensor(function.value_of(argument)) for argument in node.args):
            return "tensor-range", "range(tensor)"
    elif name in _COLLECTIONS:
        return "defaultdict", name.rpartition(".")[2]
    elif name.startswith(_FROZEN):
        return "frozen-value", f"{name}()"
    elif name.startswith(_DISTRIBUTIONS) and name.rpartition(".")[2][:1].isupper():
        return "distribution", name.rpartition(".")[2]
    elif name.startswith(_FOREIGN):
        return "foreign-call", f"{name}()"
    return None


def _change(method: ast.Attribute, function: CompiledFunction) -> tuple[str, str] | None:
    """`self.features.append(x)`, or `found.append(x)` of a list that the caller gave."""
    place = method.value
    kinds = {
        option.kind for option in options_of(function.value_of(place)) if isinstance(option, ListOf)
    }
    if not kinds & {"list", "dict"}:
        return None
    if method.attr == "pop" and kinds == {"dict"}:
        return "dict-pop", "dict.pop()"
    what = f"{ast.unparse(place)}.{method.attr}()"
    found = _changed(place, what, function)
    if found is None and "list" in kinds and method.attr in METHODS:
        return "list-methods", what
    return found


def _changed(place: ast.expr, what: str, function: CompiledFunction) -> tuple[str, str] | None:
    text = ast.unparse(place)
    if _is_assigned(text, function):
        return None  # made here, and seen here
    parameters = [argument.arg for argument in function.node.args.args]
    if isinstance(place, ast.Attribute) and text.startswith("self."):
        return "kept-container", what
    if isinstance(place, ast.Name) and place.id in parameters and not _is_returned(place, function):
        return "argument-container", what
    return None


def _is_returned(name: ast.Name, function: CompiledFunction) -> bool:
    """Whether the caller gets the changed container as a result."""
    return any(
        isinstance(part, ast.Name) and part.id == name.id
        for node in function.nodes
        if isinstance(node, ast.Return) and node.value is not None
        for part in all_nodes(node.value)
    )


def _is_assigned(place: str, function: CompiledFunction) -> bool:
    return any(
        ast.unparse(target) == place
        for node in function.nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
    )


def _item(node: ast.AST, function: CompiledFunction) -> tuple[str, str] | None:
    """`self.cache[k] = y` of a dict or a list."""
    assert isinstance(node, ast.Subscript)
    if not is_store(node):
        return None
    value = function.value_of(node.value)
    kinds = {option.kind for option in options_of(value) if isinstance(option, ListOf)}
    if not kinds & {"list", "dict"}:
        return None
    return _changed(node.value, f"{ast.unparse(node)} = ...", function)


def _count(node: ast.AST, function: CompiledFunction) -> tuple[str, str] | None:
    """`self.calls += 1` of a number; buffers are Parameters, and count."""
    assert isinstance(node, ast.AugAssign)
    place = node.target
    if not isinstance(place, ast.Attribute) or getattr(place.value, "id", "") != "self":
        return None
    if not isinstance(node.value, ast.Constant) or is_tensor(function.value_of(place)):
        return None
    registered = any(
        isinstance(call, ast.Call)
        and getattr(call.func, "attr", "").startswith("register_")
        and call.args
        and getattr(call.args[0], "value", "") == place.attr
        for call in all_nodes(function.owner or function.node)
    )
    return None if registered else ("counter", ast.unparse(node))


_Check = Callable[[ast.AST, CompiledFunction], tuple[str, str] | None]
_CHECKS: dict[type[ast.AST], _Check] = {
    ast.For: _loop,
    ast.While: _loop,
    ast.Call: _call,
    ast.Subscript: _item,
    ast.AugAssign: _count,
    ast.Assign: of_assignment,
    ast.BinOp: of_operator,
    ast.Dict: of_dict,
    **dict.fromkeys(COMPREHENSIONS, of_comprehension),
}
