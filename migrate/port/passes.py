"""Run the passes of the pipeline on one file, in their order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import libcst as cst

from migrate.flow.compiled import compiled_in
from migrate.lower.run import Lowered, lower
from migrate.pipeline import Pass
from migrate.pipeline.context import Context
from migrate.port.reasons import WALK
from migrate.resolve import FileResolution, Resolver
from migrate.rewrite.driver import rewrite_nodes
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.import_planner import HELPERS
from migrate.syntax.parsing import parse
from migrate.syntax.text import module_code


def run_source_passes(text: str, passes: Sequence[Pass]) -> str:
    """The text that is resolved and parsed."""
    for one in passes:
        if one.unit == "source":
            text = one.run(text)
    return text


def lower_file(
    resolver: Resolver, resolution: FileResolution, text: str, passes: Sequence[Pass]
) -> Lowered:
    """The source in forms that Graph mode compiles."""
    assert resolution.scope is not None
    lowering = [one for one in passes if one.unit == "lowering"]
    compiled = compiled_in(resolution, resolver.modules)
    tree = resolution.scope.tree
    return lower(text, tree, resolution.types, compiled, lowering)


def run_passes(text: str, context: Context, passes: Sequence[Pass]) -> str:
    """The text of the ported file."""
    module = parse(text)
    for one in passes:
        if one.unit == "module" and one.phase == "plan":
            module = one.run(module, context)
    nodes = [one.run for one in passes if one.unit == "node"]
    module = _walked(module, context, nodes)
    _keep(context, WALK, module)
    later = [one for one in passes if one.phase in ("graph_mode", "tidy", "emit")]
    for one in later:
        if one.unit == "module":
            module = one.run(module, context)
            _keep(context, one.name, module)
    code = finished = module_code(module)
    for one in passes:
        if one.unit == "text":
            code = one.run(code, text)
            if context.snapshots is not None:
                context.snapshots.append((one.name, code))
    if code != finished:
        context.ported_tree = None  # its lines are no longer those of the text
    return code


def _keep(context: Context, name: str, module: cst.Module) -> None:
    """The text after a pass, where a report wants to know who wrote a line."""
    if context.snapshots is not None:
        context.snapshots.append((name, module.code))


def _walked(
    module: cst.Module, context: Context, passes: Sequence[Callable[[FileRewrite], NodePass]]
) -> cst.Module:
    if context.module_classes and any(n.args.defaults for n in nodes_of(context.tree, ast.Lambda)):
        context.spelling.name(f"{HELPERS}.WithDefaults")  # imported, if any lambda comes to need it
    return rewrite_nodes(module, context, passes)
