"""Could a statement's result depend on parameters, or is it only data?

When in doubt it could: a forward pass left out of the step would silently train nothing.
"""

from __future__ import annotations

import ast
import builtins
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from migrate.flow.losses import is_loss_of_torch
from migrate.resolve.members import is_module_value
from migrate.resolve.values import (
    UNKNOWN,
    External,
    Instance,
    ListOf,
    Method,
    ProjectClass,
    ProjectFunction,
    TupleOf,
    Value,
    is_tensor,
    options_of,
)
from migrate.syntax.access import attribute_of
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow import Flow

_MODEL_WORDS = ("model", "net", "criterion", "loss_fn", "encoder", "decoder", "critic", "actor")
_LOSS_WORDS = ("criterion", "loss")
_NETWORK_WORDS = ("model", "net", "encoder", "decoder", "critic", "actor")
_DATA_WORDS = (
    "augment", "batch", "collate", "data", "iter", "loader", "logger", "meter", "metric", "mixup",
    "preprocess", "processor", "sampler", "timer", "tokenizer", "transform", "writer",
)  # fmt: skip
# Functions of Python's library that call one argument with the items of another.
_APPLIES = frozenset(
    {"builtins.map", "functools.reduce", "itertools.accumulate", "itertools.starmap"}
)
_DEPTH = 3  # functions that call functions


def may_use_parameters(
    node: ast.AST, flow: Flow, depth: int = _DEPTH, data: frozenset[str] = frozenset()
) -> bool:
    """Somewhere in here a module is called or looked into, or something unknown that may be one.

    Names in `data` are known to hold none: what numpy made.
    """
    for inner in all_nodes(node):
        if isinstance(inner, ast.Call):
            if _root(inner.func) not in data and _calls_parameters(inner, flow, depth):
                return True
        elif isinstance(inner, ast.Attribute) and is_module_value(flow.symbols.type(inner.value)):
            kind = flow.symbols.type(inner)
            if kind is UNKNOWN or any(is_tensor(option) for option in options_of(kind)):
                return True
        if isinstance(inner, (ast.Name, ast.Attribute)) and is_parameter(flow.symbols.type(inner)):
            return True
    return False


def runs_forward(node: ast.AST, flow: Flow) -> bool:
    """A module, or something unknown that may be one, is called in here, or parameters are used.

    `policy.saved_log_probs` is neither: that forward pass was run elsewhere.
    """
    return any(
        (isinstance(inner, ast.Call) and _runs_network(inner, flow))
        or (isinstance(inner, (ast.Name, ast.Attribute)) and is_parameter(flow.symbols.type(inner)))
        or attribute_of(inner) in ("parameters", "named_parameters")
        for inner in all_nodes(node)
    )


def _runs_network(call: ast.Call, flow: Flow) -> bool:
    """`criterion(out, y)` computes with what it is given, and has no parameters of its own."""
    if not _calls_parameters(call, flow, _DEPTH):
        return False
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if any(_may_be_network(argument, flow) for argument in arguments):
        return True
    kinds = options_of(flow.symbols.type(call.func))
    if all(kind is UNKNOWN for kind in kinds):
        return not _sounds_like(call.func, _LOSS_WORDS)
    return not all(map(is_loss_of_torch, kinds))


def _may_be_network(node: ast.expr, flow: Flow) -> bool:
    return is_module_value(flow.symbols.type(node)) or _sounds_like(node, _NETWORK_WORDS)


def _sounds_like(node: ast.expr, words: tuple[str, ...]) -> bool:
    last = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return any(word in last.lower() for word in words)


def is_parameter(value: Value) -> bool:
    """A parameter, whatever else the value may be."""
    return any(
        isinstance(option, Instance) and option.cls == "torch.nn.Parameter"
        for option in options_of(value)
    )


def _calls_parameters(call: ast.Call, flow: Flow, depth: int) -> bool:
    function = call.func
    if any(is_module_value(flow.symbols.type(argument)) for argument in (function, *call.args)):
        return True
    if _may_apply(flow.symbols.type(function)) and any(
        _holds_modules(flow.symbols.type(argument))
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
    ):
        return True
    if flow.symbols.api(function):
        return False  # one of torch's own functions or tensor methods; its arguments are looked at
    kinds = options_of(flow.symbols.type(function))
    if kinds and all(kind is not UNKNOWN for kind in kinds):
        return any(_kind_uses_parameters(kind, flow, depth) for kind in kinds)
    return _sounds_like_parameters(function, flow)


def _may_apply(function: Value) -> bool:
    """Whether a function may call what it is given the items of: all but most of Python's own."""
    return not isinstance(function, External) or function.name in _APPLIES


def _holds_modules(value: Value, depth: int = _DEPTH) -> bool:
    """`[encoder, decoder]`, `nets[:2]`, `{"a": net}.values()`"""
    parts: Sequence[Value] = ()
    if isinstance(value, TupleOf):
        parts = value.items
    elif isinstance(value, ListOf):
        parts = options_of(value.item)
    return depth > 0 and any(is_module_value(p) or _holds_modules(p, depth - 1) for p in parts)


def _kind_uses_parameters(kind: Value, flow: Flow, depth: int) -> bool:
    if isinstance(kind, Instance) and isinstance(kind.cls, ProjectClass):
        kind = kind.cls.body.get("__call__", UNKNOWN)
    elif isinstance(kind, Method) and isinstance(kind.function, ProjectFunction):
        kind = kind.function
    if not isinstance(kind, ProjectFunction):
        return False
    body = kind.node.body if isinstance(kind.node.body, list) else [kind.node.body]
    data = _made_by_numpy(body)
    return depth == 0 or any(may_use_parameters(part, flow, depth - 1, data) for part in body)


def _made_by_numpy(body: Sequence[ast.AST]) -> frozenset[str]:
    """`rng = np.random.default_rng(0)`, and what is computed from it: nothing is known of the
    types of another file.
    """
    found = {"np", "numpy"}
    for node in (node for part in body for node in all_nodes(part)):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            roots = {_root(n.func) for n in all_nodes(node.value) if isinstance(n, ast.Call)}
            target = node.targets[0]
            known = all(root in found or hasattr(builtins, root) for root in roots)
            if isinstance(target, ast.Name) and roots & found and known:
                found.add(target.id)
    return frozenset(found)


def _root(node: ast.AST) -> str:
    """`rng` of `rng.normal(...).astype(...)`"""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _sounds_like_parameters(function: ast.expr, flow: Flow) -> bool:
    """Nothing is known of what is called: its name must do."""
    if isinstance(function, ast.Name):
        name = function.id.lower()
        return not hasattr(builtins, function.id) and any(word in name for word in _MODEL_WORDS)
    if not isinstance(function, ast.Attribute):
        return True
    receiver = function.value
    if _root(function) == "torch" and function.attr.islower():
        return flow.table.get(ast.unparse(function)) is None  # another file's torch.stack(...)
    if flow.table.get(f"torch.Tensor.{function.attr}") is not None or any(
        hasattr(kind, function.attr) for kind in (deque, dict, list, set, str)
    ):
        return False  # x.float(), batch.items(), losses.append(x): a method of data
    words = f"{ast.unparse(receiver).rpartition('.')[2]} {function.attr}".lower()
    return not any(word in words for word in _DATA_WORDS)
