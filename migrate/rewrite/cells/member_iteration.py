"""`for p in self.parameters()` in code that may be compiled: the compiler runs no method of a Cell
that yields its members, but it reads attributes, which the helpers make of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.flow.compiled_nodes import compiled_code
from migrate.pipeline.context import Context

_METHODS = (
    "buffers",
    "children",
    "modules",
    "named_buffers",
    "named_children",
    "named_modules",
    "named_parameters",
    "parameters",
)
_HELPERS = {f"torch.nn.Module.{name}": f"{name}_of" for name in _METHODS}
# Builtins that read what they are given from its start to its end, as they would read a tuple.
_READERS = frozenset(
    {"all", "any", "enumerate", "len", "list", "max", "min", "sorted", "sum", "tuple", "zip"}
)


def find_member_iterations(context: Context) -> tuple[dict[ast.AST, str], set[ast.AST]]:
    """Calls by identity with the helper that gives a tuple in their place, and calls of `next` of
    such a call, which ask for its first item.
    """
    apis = {usage.api for usage in context.resolution.usages}
    if apis.isdisjoint(_HELPERS) or context.resolution.scope is None:
        return {}, set()
    listed: dict[ast.AST, str] = {}
    first: set[ast.AST] = set()
    for _, _, nodes in compiled_code(context.resolution.scope, context.resolution.types):
        for node in nodes:
            asks = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "next"
            for read in _read_through(node):
                usage = context.usage(read.func) if isinstance(read, ast.Call) else None
                # `parameters(recurse=False)` and the like are what they are.
                if usage is None or usage.api not in _HELPERS or _arguments(read):
                    continue
                listed[read] = _HELPERS[usage.api]
                if asks:
                    first.add(node)
    return listed, first


def _read_through(node: ast.AST) -> Iterator[ast.expr]:
    """What this node reads from the start, and nobody reads after it."""
    if isinstance(node, (ast.For, ast.comprehension)):
        yield node.iter
    elif isinstance(node, ast.Starred):
        yield node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in _READERS:
            yield from node.args
        elif node.func.id == "next" and len(node.args) == 1 and not node.keywords:
            (value,) = node.args
            if isinstance(value, ast.Call) and ast.unparse(value.func) == "iter":
                yield from value.args
            else:
                yield value


def _arguments(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and bool(node.args or node.keywords)
