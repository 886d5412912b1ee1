"""Networks that Graph mode cannot compile as they are: the class says why (`not_compiled = "..."`),
and the helpers call it in PyNative mode, with a warning, instead of failing or losing effects.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate.flow.answer import Verdict
from migrate.flow.compiled import DECORATED, index_of
from migrate.graph_mode.kept_attributes import add_kept_attributes
from migrate.lower.function import FUNCTIONS
from migrate.lower.limit_checks import limits_met
from migrate.lower.limits import by_syntax, limits
from migrate.lower.run import compiled_functions
from migrate.pipeline.context import Context
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
        if foreign == DECORATED:
            last = function.rpartition(".")[2]
            return limits()["decorated-function"].message.replace("{what}", f"{last}()")
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
    add_kept_attributes(functions, found, context)
    ported = SourceText(code, context.ported_tree)
    for function in compiled_functions(ported, {}, _as_ported(compiled)):
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
