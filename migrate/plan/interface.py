"""What goes into a forward function, and what comes out: data, code, and the order of names."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from migrate.pipeline.context import Context, is_module_value
from migrate.pipeline.refusal import Refusal
from migrate.plan.find import Backward
from migrate.plan.names import binds, changes, reads
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


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An earlier value of a name, as a name of its own."""

    name: str
    version: str
    is_copied: bool  # the step goes on to change the tensor itself

    @property
    def source(self) -> str:
        return f"{self.version} = {self.name}{'.copy()' if self.is_copied else ''}"


@dataclass(slots=True)
class Versions:
    """What the deferred statements of a step read and bind under other names."""

    snapshots: dict[ast.stmt, list[Snapshot]] = field(default_factory=dict)  # behind a statement
    renames: dict[ast.stmt, dict[str, str]] = field(default_factory=dict)  # of a deferred one

    @property
    def names(self) -> list[str]:
        return [one.version for found in self.snapshots.values() for one in found]


def find_versions(
    statements: Sequence[ast.stmt],
    region: Sequence[ast.stmt],
    deferred: Sequence[ast.stmt],
    taken: set[str],
) -> Versions:
    """Follow the statements from the step's first one to backward(), in order."""
    versions = Versions()
    current: dict[str, str] = {}  # name -> what a deferred statement here has to call it
    before: ast.stmt | None = None  # the last statement of the region so far
    for index, statement in enumerate(statements):
        if statement in region:
            before = statement
            for name in changes(statement):
                current.pop(name, None)
        elif statement in deferred:
            after = [one for one in statements[index + 1 :] if one in region]
            names = _rename(statement, after, before, current, versions, taken)
            if names:
                versions.renames[statement] = names
    return versions


def _rename(
    statement: ast.stmt,
    after: Sequence[ast.stmt],
    before: ast.stmt | None,
    current: dict[str, str],
    versions: Versions,
    taken: set[str],
) -> dict[str, str]:
    bound_later = {name for one in after for name in changes(one)}
    names: dict[str, str] = {}
    for name in sorted(reads(statement)):
        if name in bound_later and name not in current and before is not None:
            copied = any(name in _changed_in_place(one) for one in after)
            current[name] = _fresh(name, taken)
            snapshot = Snapshot(name, current[name], copied)
            versions.snapshots.setdefault(before, []).append(snapshot)
        if name in current:
            names[name] = current[name]
    for name in sorted(binds(statement)):
        if name in names:
            raise Refusal(
                f"{name} is read and bound between the statements that compute the loss, which "
                "bind it again",
                f"use another name for what becomes of {name}",
                "MS408",
            )
        if name in bound_later:
            names[name] = current[name] = _fresh(name, taken)
        else:
            current.pop(name, None)
    return names


def _changed_in_place(statement: ast.stmt) -> set[str]:
    """`x[i] = v`, `x.add_(v)`; `x += v`, which is in place in Graph mode."""
    augmented = {
        node.target.id
        for node in ast.walk(statement)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    return (changes(statement) - binds(statement)) | augmented


def _fresh(name: str, taken: set[str]) -> str:
    number = 1
    while f"{name}_{number}" in taken:
        number += 1
    taken.add(f"{name}_{number}")
    return f"{name}_{number}"
