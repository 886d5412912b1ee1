"""What stands in a list that is given to an API: `Compose([ToTensor(), ...])`, `Compose(steps)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.pipeline.context import Context
from migrate.syntax.ast_index import nodes_of


def find_listed(tree: ast.Module, context: Context) -> dict[ast.AST, str]:
    """The items by identity, and the API that gets them, directly or by the list's name."""
    found: dict[ast.AST, str] = {}
    names: dict[str, str] = {}
    for usage in context.resolution.usages:
        call = usage.call
        for argument in _arguments(call) if isinstance(call, ast.Call) else ():
            if isinstance(argument, ast.Name):
                names[argument.id] = usage.api
            for item in _items(argument):
                found[item] = usage.api
                if isinstance(item, ast.Name):
                    names[item.id] = usage.api
    for name, item in _put(tree) if names else ():
        if name in names:
            found[item] = names[name]
            if isinstance(item, ast.Name):
                names.setdefault(item.id, names[name])
    called = _called(tree)
    for name, value in _named(tree) if names else ():
        if name in names and name not in called:
            found[value] = names[name]
    return found


_TENSORS = ("ToTensor", "PILToTensor", "ToImage")


def before_tensors(tree: ast.Module, context: Context) -> set[ast.AST]:
    """Transforms of a Compose that stand before ToTensor: what they get are PIL images."""
    found: set[ast.AST] = set()
    for usage in context.resolution.usages:
        if not usage.api.endswith(".Compose") or not isinstance(usage.call, ast.Call):
            continue
        for argument in _arguments(usage.call):
            items = _listed(argument, tree)
            makers = [n for n, item in enumerate(items) if _makes_tensor(item, context)]
            found.update(items[: makers[-1]] if makers else [])
    return found


def _listed(argument: ast.expr, tree: ast.Module) -> list[ast.expr]:
    """The items of a list in their order; for a name, what is put into the list of that name."""
    found: list[ast.expr] = []
    for item in [argument] if isinstance(argument, ast.Name) else _items(argument):
        put = [one for name, one in _put(tree) if name == getattr(item, "id", "")]
        put.sort(key=lambda one: (one.lineno, one.col_offset))
        found += put or [item]
    return found


def _makes_tensor(item: ast.expr, context: Context) -> bool:
    usage = context.usage(item.func) if isinstance(item, ast.Call) else None
    return usage is not None and usage.api.endswith(_TENSORS)


def _named(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """`normalize = Normalize(...)`, where only its name stands in the list."""
    for node in nodes_of(tree, ast.Assign):
        if isinstance(node.value, ast.Call):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value


def _called(tree: ast.Module) -> set[str]:
    return {node.func.id for node in nodes_of(tree, ast.Call) if isinstance(node.func, ast.Name)}


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _items(node: ast.expr) -> list[ast.expr]:
    """Of a list, of lists that are added up, and of both sides of a choice."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return [
            part
            for item in node.elts
            for part in (_spread(item.value) if isinstance(item, ast.Starred) else [item])
        ]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_items(node.left), *_items(node.right)]
    if isinstance(node, ast.IfExp):
        return [*_items(node.body), *_items(node.orelse)]
    return []


def _spread(node: ast.expr) -> list[ast.expr]:
    return [node] if isinstance(node, ast.Name) else _items(node)


def _put(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names of lists, and what is put into them."""
    for node in nodes_of(tree, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Call):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield from ((target.id, item) for item in _items(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and node.func.attr in ("append", "insert", "extend"):
                for argument in node.args:
                    yield owner.id, argument
                    yield from ((owner.id, item) for item in _items(argument))
