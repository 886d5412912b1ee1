"""Lists and dicts that only the function itself sees: a new one may stand in the old one's place.

`skips = [x]; y = skips.pop()` may become `y = skips[-1]; skips = skips[:-1]` where nothing else
holds the list: no second name, no attribute, no inner function, no callee of the program's own.
"""

from __future__ import annotations

import ast

from migrate.lower.function import CompiledFunction
from migrate.lower.kinds import bound_values, kind_of
from migrate.resolve.values import CallableOf, External, Instance, Method, options_of
from migrate.syntax.access import is_read

_TESTS = (ast.If, ast.While, ast.IfExp)
_READ = (
    *(ast.Attribute, ast.Return, ast.BinOp, ast.Compare, ast.UnaryOp),
    *(ast.FormattedValue, ast.Starred, ast.Assert),
)
_DISPLAYS = (ast.Tuple, ast.List, ast.Dict)


def is_own(node: ast.expr, kind: str, function: CompiledFunction) -> bool:
    """A variable of the function that holds such a container, and nobody else holds it."""
    if not isinstance(node, ast.Name) or kind_of(node, function) != kind:
        return False
    given = function.node.args.kwarg
    if given is None or given.arg != node.id:
        values = list(bound_values(node.id, function))
        if not values or any(value is None for value in values):
            return False
    return all(
        function.scope_of(read) is function.node and _only_reads(read, function)
        for read in function.of_kind(ast.Name)
        if read.id == node.id and is_read(read)
    )


def _only_reads(name: ast.Name, function: CompiledFunction) -> bool:
    """Whether what stands around the name neither keeps the container nor hands it on."""
    parent = function.parents[name]
    if isinstance(parent, _READ):
        return True
    if isinstance(parent, ast.Subscript):
        return parent.value is name
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is name
    if isinstance(parent, _TESTS):
        return parent.test is name
    if isinstance(parent, _DISPLAYS):
        return isinstance(function.parents[parent], ast.Return)
    if isinstance(parent, ast.keyword):
        if parent.arg is None:
            return True  # `f(**options)` gets a dict of its own
        parent = function.parents[parent]
    if isinstance(parent, ast.Call):
        return _is_library(parent.func, function)
    return False


def _is_library(called: ast.expr, function: CompiledFunction) -> bool:
    """`torch.cat(skips)`, `len(skips)`, `self.fuse(skips)` of a layer of torch's."""
    options = options_of(function.value_of(called))
    return all(
        isinstance(option, (External, CallableOf))
        or (isinstance(option, Method) and isinstance(option.function, str))
        or (isinstance(option, Instance) and isinstance(option.cls, str))
        for option in options
    )
