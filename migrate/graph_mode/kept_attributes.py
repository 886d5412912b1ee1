"""Tensors that a network keeps on itself: `self.attention = weights` in its forward.

A graph assigns them once, when it is built. Whoever reads them later, the next call, another method
or the program, would go on with the value of the first call, so such a class is not compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrate.flow.mentions import trees_with
from migrate.lower.function import CompiledFunction
from migrate.lower.limits import limits
from migrate.pipeline.context import Context
from migrate.resolve.values import Instance, ProjectClass, options_of
from migrate.syntax.access import is_read, is_store
from migrate.syntax.ast_index import all_nodes, nodes_of


def add_kept_attributes(
    functions: list[CompiledFunction], found: dict[str, str], context: Context
) -> None:
    """The reasons by the dotted names of the functions that assign what is read later."""
    rows = limits()
    for writer in functions:
        if writer.owner is None:
            continue
        written = {node.attr for node in _own(writer, is_store) if not _is_state(node, writer)}
        if not written:
            continue
        for row, names in (
            ("attribute-of-methods", _read_by_methods(written, writer, functions)),
            ("attribute-over-calls", _read_later(written, writer, functions, context)),
        ):
            for name in names:
                text = rows[row].message.replace("{what}", f"self.{name}")
                found.setdefault(writer.qualified, text)


def _read_by_methods(
    written: set[str], writer: CompiledFunction, functions: list[CompiledFunction]
) -> Iterator[str]:
    """Attributes that another compiled method of the class reads."""
    for reader in functions:
        if reader.owner is not writer.owner or reader is writer:
            continue
        own = {node.attr for node in _own(reader, is_store)}
        for node in _own(reader, is_read):
            if node.attr in written and node.attr not in own:
                yield node.attr


def _read_later(
    written: set[str],
    writer: CompiledFunction,
    functions: list[CompiledFunction],
    context: Context,
) -> Iterator[str]:
    """Attributes that the next call reads before it assigns them, or code that is not compiled."""
    for name in sorted(written):
        if (
            any(map(_is_late, _registrations(name, writer)))
            or _is_read_first(name, writer)
            or _is_read_outside(name, writer, functions, context)
        ):
            yield name


def _is_read_first(name: str, writer: CompiledFunction) -> bool:
    """`delta = y - self.last` in front of `self.last = y`, or in the same statement."""
    stores = [node for node in _own(writer, is_store) if node.attr == name]
    first = min((_start(writer.statement_of(node)) for node in stores), default=(0, 0))
    ends = [_end(statement) for node in stores if (statement := writer.statement_of(node))]
    within = [end for end, node in zip(ends, stores, strict=False) if _start(node) >= first]
    last = min(within, default=first)
    return any(node.attr == name and _start(node) <= last for node in _own(writer, is_read))


def _start(node: ast.AST | None) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST | None) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def _is_read_outside(
    name: str, writer: CompiledFunction, functions: list[CompiledFunction], context: Context
) -> bool:
    """`net.attention` anywhere in the program, and `self.attention` in what Python runs."""
    compiled = {node for function in functions for node in function.nodes}
    owner = set(nodes_of(writer.owner, ast.Attribute)) if writer.owner is not None else set()
    for node in nodes_of(context.tree, ast.Attribute):
        if node.attr != name or not is_read(node) or node in compiled or _is_called(node, context):
            continue
        own = getattr(node.value, "id", "") == "self"
        if (node in owner) if own else _may_be(node.value, writer, context):
            return True
    return any(
        node.attr == name and is_read(node) and getattr(node.value, "id", "") != "self"
        for tree in trees_with(context.modules.project, f".{name}", but=context.resolution.source)
        for node in nodes_of(tree, ast.Attribute)
    )


def _is_called(node: ast.Attribute, context: Context) -> bool:
    """`block.act(x)`: a layer or a method of that name."""
    return any(call.func is node for call in nodes_of(context.tree, ast.Call))


def _may_be(node: ast.expr, writer: CompiledFunction, context: Context) -> bool:
    """The object may be one of the class: its type is not known to be another one."""
    kinds = options_of(context.type(node))
    classes = [o.cls for o in kinds if isinstance(o, Instance) and isinstance(o.cls, ProjectClass)]
    if not classes or len(classes) < len(kinds):
        return True
    named = getattr(writer.owner, "name", "")
    return any(
        base.node.name == named
        for cls in classes
        for base in cls.lineage()
        if isinstance(base, ProjectClass)
    )


def _own(function: CompiledFunction, accessed: Callable[[ast.AST], bool]) -> list[ast.Attribute]:
    return [
        node
        for node in function.nodes
        if isinstance(node, ast.Attribute)
        and accessed(node)
        and getattr(node.value, "id", "") == "self"
    ]


def _is_state(node: ast.Attribute, function: CompiledFunction) -> bool:
    """A registered buffer or Parameter, which stays one; or a plain constant."""
    statement = function.statement_of(node)
    if isinstance(getattr(statement, "value", None), ast.Constant):
        return True
    calls = _registrations(node.attr, function)
    return bool(calls) and not any(map(_is_late, calls))


def _registrations(name: str, function: CompiledFunction) -> list[ast.Call]:
    """`self.register_buffer(name, ...)` in the class."""
    return [
        call
        for call in all_nodes(function.owner or function.node)
        if isinstance(call, ast.Call)
        and getattr(call.func, "attr", "").startswith("register_")
        and bool(call.args)
        and getattr(call.args[0], "value", "") == name
    ]


def _is_late(call: ast.Call) -> bool:
    """`self.register_buffer("cache", None)`: listed from its first value on."""
    value = call.args[1] if len(call.args) > 1 else None
    return isinstance(value, ast.Constant) and value.value is None
