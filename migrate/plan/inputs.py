"""What goes into a forward function, and what comes out: data, code, and the order of names."""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context, is_module_value
from migrate.plan.find import Backward
from migrate.resolve.values import (
    External,
    ProjectClass,
    ProjectFunction,
    ProjectModule,
    is_tensor,
    options_of,
)

_CODE = (External, ProjectClass, ProjectFunction, ProjectModule)


def names_called(parts: list[ast.AST]) -> set[str]:
    """Names that are called as they stand: networks and losses, never data."""
    return {
        node.func.id
        for part in parts
        for node in ast.walk(part)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def data_arguments(arguments: ast.arguments, region: list[ast.stmt], context: Context) -> set[str]:
    """Parameters of the function that the region only passes on or computes with: data, not
    code.
    """
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    code: set[str] = set()
    for statement in region:
        for node in ast.walk(statement):
            head = node.func if isinstance(node, ast.Call) else None
            while isinstance(head, ast.Attribute):
                head = head.value
            if isinstance(head, ast.Name) and not is_tensor(context.type(head)):
                code.add(head.id)
    return names - code - {"self"}


def is_code(name: str, region: list[ast.stmt], backward: Backward, context: Context) -> bool:
    """Modules, functions, classes and imports stay in the closure."""
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and (
            is_module_value(context.type(node))
            or any(isinstance(kind, _CODE) for kind in options_of(context.type(node)))
        )
        for part in (*region, backward.loss)
        for node in ast.walk(part)
    )


def changed_in_part(region: list[ast.stmt], parameters: list[str], context: Context) -> list[str]:
    """Tensors from outside of which the region assigns to items: `outputs[i] = y`."""
    found: dict[str, None] = {}
    for statement in region:
        for node in ast.walk(statement):
            root = node.value if isinstance(node, ast.Subscript) else None
            if (
                isinstance(root, ast.Name)
                and isinstance(node, ast.Subscript)
                and isinstance(node.ctx, ast.Store)
                and root.id in parameters
                and is_tensor(context.type(root))
            ):
                found[root.id] = None
    return list(found)


def in_order(bound: set[str], region: list[ast.stmt]) -> list[str]:
    order: dict[str, None] = {}
    for statement in region:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in bound:
                order[node.id] = None
    return list(order)
