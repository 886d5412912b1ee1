"""Networks that Graph mode cannot compile as they are: the class says why (`not_compiled = "..."`),
and the helpers call it in PyNative mode, with a warning, instead of failing or losing effects.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from migrate.flow.answer import Verdict
from migrate.flow.compiled import index_of
from migrate.lower.function import FUNCTIONS, CompiledFunction
from migrate.lower.limit_checks import limits_met
from migrate.lower.limits import by_syntax, limits
from migrate.lower.run import compiled_functions
from migrate.pipeline.context import Context
from migrate.syntax.access import is_read, is_store
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.edits import Edit, SourceText, apply_edits

MARK = "not_compiled"


def mark_classes(code: str, context: Context) -> tuple[str, bool]:
    """The ported code with marks in its classes, and whether there are any."""
    if not context.module_classes:
        return code, False
    reasons = _reasons(code, context)
    classes = {}
    for cls in context.module_classes.values():
        reason = _of_class(cls.qualified, reasons, context)
        if reason is not None:
            classes[cls.qualified] = reason
    if not classes:
        return code, False
    return _marked(code, classes), True


def _of_class(name: str, reasons: Mapping[str, str], context: Context) -> str | None:
    """The first limit that the class's forward meets, here or in another file."""
    source = context.resolution.source
    reached = index_of(context.modules).reached(source, f"{name}.forward")
    for function, foreign in reached:
        if foreign:
            return f"{function}: {foreign}"
        if function in reasons:
            return reasons[function]
    return None


def _reasons(code: str, context: Context) -> dict[str, str]:
    """By the dotted names of the functions of this file."""
    compiled = {name: verdict for name, verdict in context.compiled().items() if verdict.yes}
    found: dict[str, str] = {}
    source = SourceText(context.text, context.tree)
    functions = compiled_functions(source, context.resolution.types, compiled)
    kinds = by_syntax()
    for function in functions:
        for met in limits_met(function):
            # What a lowering pass left is what it could not prove.
            left = met.limit.port in ("pynative", "lower") and met.limit.message
            if left and type(met.node) not in kinds:
                found.setdefault(function.qualified, met.message)
    _add_shared_attributes(functions, found)
    for function in compiled_functions(SourceText(code), {}, _as_ported(compiled)):
        for node in function.nodes:
            row = kinds.get(type(node))
            if row is not None and not _is_leftover(node):
                found.setdefault(_as_source(function.qualified), row.message)
    return found


def _is_leftover(node: ast.AST) -> bool:
    """`import torch` for a use that was left: its own finding says that it cannot run."""
    return isinstance(node, ast.Import) and all(
        alias.name.partition(".")[0] in ("torch", "torchvision") for alias in node.names
    )


def _add_shared_attributes(functions: list[CompiledFunction], found: dict[str, str]) -> None:
    """Attributes that one compiled method assigns and another one of the class reads."""
    row = limits()["attribute-of-methods"]
    for writer in functions:
        if writer.owner is None:
            continue
        written = {node.attr for node in _own(writer, is_store) if not _is_state(node, writer)}
        for reader in functions if written else ():
            if reader.owner is not writer.owner or reader is writer:
                continue
            own = {node.attr for node in _own(reader, is_store)}
            for node in _own(reader, is_read):
                if node.attr in written and node.attr not in own:
                    text = row.message.replace("{what}", f"self.{node.attr}")
                    found.setdefault(writer.qualified, text)


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
    owner = function.owner or function.node
    return any(
        isinstance(call, ast.Call)
        and getattr(call.func, "attr", "").startswith("register_")
        and bool(call.args)
        and getattr(call.args[0], "value", "") == node.attr
        for call in all_nodes(owner)
    )


def _as_ported(compiled: Mapping[str, Verdict]) -> dict[str, Verdict]:
    return {
        f"{name.removesuffix('forward')}construct" if name.endswith(".forward") else name: verdict
        for name, verdict in compiled.items()
    }


def _as_source(name: str) -> str:
    return f"{name.removesuffix('construct')}forward" if name.endswith(".construct") else name


def _marked(code: str, classes: Mapping[str, str]) -> str:
    source = SourceText(code)
    edits: list[Edit] = []

    def visit(body: list[ast.stmt], path: str) -> None:
        for node in body:
            if not isinstance(node, ast.ClassDef):
                continue
            reason = classes.get(f"{path}{node.name}")
            if reason is not None:
                edits.append(_mark(node, reason, source))
            visit(node.body, f"{path}{node.name}.")

    visit(source.tree.body, "")
    return apply_edits(source, edits).source.text


def _mark(cls: ast.ClassDef, reason: str, source: SourceText) -> Edit:
    """A line in front of the first statement behind the docstring."""
    first = cls.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and cls.body[1:]:
        first = cls.body[1]
    start = source.span(first)[0]
    indent = source.indent_of(first)
    gap = "\n\n" if isinstance(first, FUNCTIONS) else "\n"
    text = reason.replace("\\", "").replace('"', "'")
    return Edit(start, start, (f'{MARK} = "{text}"{gap}{indent}',))
