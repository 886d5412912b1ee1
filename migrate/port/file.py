"""Port one file: text in, text and findings out."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import libcst as cst

from migrate.findings import Finding
from migrate.graph_mode.compiled_functions import (
    CompiledFunctions,
    all_compiled_names,
    compiled_names,
)
from migrate.graph_mode.continue_to_if import continue_to_if
from migrate.graph_mode.expand_item_augassign import expand_item_augassign
from migrate.graph_mode.expand_pop import expand_pop
from migrate.graph_mode.functional_collections import functional_collections
from migrate.graph_mode.hoist_lambdas import hoist_lambdas
from migrate.graph_mode.init_branch_vars import init_branch_vars
from migrate.graph_mode.init_loop_vars import init_loop_vars
from migrate.graph_mode.inline_partials import inline_partials
from migrate.graph_mode.localize_self_attr import localize_self_attr, multi_writer_attrs
from migrate.graph_mode.split_and import split_and
from migrate.graph_mode.split_call_tuple import split_call_tuple
from migrate.plan.split_closure import split_closure
from migrate.project import ReadProblem, SourceFile, parse
from migrate.resolve import Resolver
from migrate.resolve.members import class_is_module
from migrate.rewrite.context import Context
from migrate.rewrite.names.import_findings import import_findings
from migrate.rewrite.names.imports import Rewriter
from migrate.rewrite.names.project_imports import imported_names
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.import_planner import HELPERS, ImportPlanner
from migrate.syntax.split_statements import split_statements
from migrate.syntax.walk import transform_lazily
from migrate.table.helper_pieces import helper_index
from migrate.tidy.dead_device_vars import remove_dead_device_vars
from migrate.tidy.long_lines import break_long_lines
from migrate.tidy.unused_cleanup import remove_unused_names

# torch seeds each device's generator, MindSpore all at once.
_SEEDED_TWICE = re.compile(r"^( *mindspore\.set_seed\([^\n#]*\)\n)\1+", re.MULTILINE)
_HELPER = re.compile(rf"\b{HELPERS}\.(?=(\w+))")
_PASSES = (
    split_call_tuple,
    expand_pop,
    expand_item_augassign,
    functional_collections,
    split_and,
    continue_to_if,
    init_branch_vars,
    init_loop_vars,
    inline_partials,
)
_MEMBERS = ("torch.Tensor.", "torch.nn.Module.", "torch.return_types.")


@dataclass(slots=True)
class PortedFile:
    """What became of one source file."""

    source: SourceFile
    text: str
    changed: bool = False
    findings: list[Finding] = field(default_factory=list)
    ported: int = 0
    usages: int = 0
    helpers: list[str] = field(default_factory=list)
    generated: dict[str, str] = field(default_factory=dict)
    problem: Finding | None = None
    encoding: str = "utf-8"
    newline: str = "\n"

    def encoded(self) -> bytes:
        """The text as bytes, in the file's own encoding and line ends."""
        text = self.text if self.newline == "\n" else self.text.replace("\n", self.newline)
        return text.encode(self.encoding)


def unported_file(source: SourceFile) -> PortedFile:
    """A file that cannot meet torch: as it is, but for what keeps Python from reading it."""
    try:
        text = source.read()
        parse(source, text)
        return PortedFile(source, text)
    except ReadProblem as problem:
        return PortedFile(source, "", problem=problem.finding)


def port_file(
    resolver: Resolver,
    source: SourceFile,
    *,
    helper_import: str,
    mint: bool = False,
    input_shapes: dict[str, tuple[int, ...]] | None = None,
    text: str | None = None,
) -> PortedFile:
    """Rewrite one file. A file that does not use torch comes back byte for byte."""
    try:
        text = source.read() if text is None else text
    except ReadProblem as problem:
        return PortedFile(source, "", problem=problem.finding)
    text = split_closure(text)
    resolution = resolver.file(source, keep_types=True, text=text)
    if resolution.problem is not None:
        return PortedFile(source, text, problem=resolution.problem)
    assert resolution.scope is not None
    tree = resolution.scope.tree
    if _imports_any(tree, ("mindspore",)):
        # Already ported: only what still names torch can need work; methods are MindSpore's own.
        resolution.usages = [
            usage
            for usage in resolution.usages
            if usage.form != "unknown" and not usage.api.startswith(_MEMBERS)
        ]
    found = import_findings(tree, source, resolver.modules)
    roots = resolver.modules.table.roots
    # A class that derives from a Module of another file has a forward, if nothing else of torch.
    derived = any(class_is_module(cls) for cls in resolution.scope.classes)
    if not resolution.usages and not derived and not found and not _imports_any(tree, roots):
        return PortedFile(source, text)
    spelling = ImportPlanner(taken=bound_names(tree, resolver), helper_import=helper_import)
    spelling.mint = mint
    spelling.quote = '"' if text.count('"') > text.count("'") else "'"
    context = Context(
        resolution,
        resolver.modules,
        resolver.modules.table,
        spelling,
        helper_index(),
        dict(input_shapes or {}),
    )
    context.lines = text.split("\n")
    context.import_findings = found
    try:
        if context.module_classes and any(n.args.defaults for n in nodes_of(tree, ast.Lambda)):
            spelling.name(f"{HELPERS}.WithDefaults")  # imported, if any lambda comes to need it
        rewriter = Rewriter(context, tree)
        new = transform_lazily(split_statements(cst.parse_module(text), text), rewriter)
        rewriter.finish()
        wanted = imported_names(resolver.modules.project)
        new = remove_dead_device_vars(new, text)
        compiled = compiled_names(resolution)
        if compiled:
            kept = partial(localize_self_attr, of_many=multi_writer_attrs(tree))
            new = transform_lazily(new, CompiledFunctions(compiled, (*_PASSES, kept)))
        if "lambda" in text:
            cells = [cls.qualified for cls in context.module_classes.values()]
            new = hoist_lambdas(new, cells, all_compiled_names(resolution), spelling)
        code = remove_unused_names(new, tree, spelling.imports, wanted)
        if "set_seed(" in code:
            code = _SEEDED_TWICE.sub(r"\1", code)
        code = break_long_lines(code, text)
    except Exception as error:  # one bad file must cost no other, and never be half-ported
        reason = f"could not be rewritten safely ({type(error).__name__}: {error})"
        finding = context.flag(None, "MS312", reason, "report this file; it was left as it is")
        return PortedFile(source, text, findings=[finding], usages=len(resolution.usages))
    used = set(_HELPER.findall(code))
    return PortedFile(
        source,
        code,
        changed=code != text,
        findings=list(context.findings),
        ported=context.ported,
        usages=len(resolution.usages),
        helpers=[name for name in spelling.helpers if name in used],
        generated=context.generated,
        **source_form(source),
    )


def source_form(source: SourceFile) -> dict[str, Any]:
    """Encoding and line ends, which the ported file keeps."""
    try:
        data = source.path.read_bytes()
    except OSError:
        return {}
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return {"encoding": encoding, "newline": "\r\n" if b"\r\n" in data else "\n"}


def bound_names(tree: ast.Module, resolver: Resolver) -> frozenset[str]:
    """Every name the file binds by itself, so that nothing we import takes its place."""
    names: set[str] = set()
    names |= {n.id for n in nodes_of(tree, ast.Name) if n.ctx.__class__ is ast.Store}
    names |= {node.arg for node in nodes_of(tree, ast.arg)}
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)
    names |= {node.name or "" for node in nodes_of(tree, *definitions)}
    for node in nodes_of(tree, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if not resolver.modules.is_library(alias.name) and not alias.name.startswith(
                    ("mindspore", "numpy", "math")
                ):
                    names.add(alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            library = node.level == 0 and (
                resolver.modules.is_library(node.module or "")
                or (node.module or "").startswith("mindspore")
            )
            if not library:
                names |= {
                    alias.asname or alias.name for alias in node.names if not _may_be_torch(alias)
                }
    return frozenset(names)


def _may_be_torch(alias: ast.alias) -> bool:
    return (alias.asname or alias.name) in ("nn", "F", "torch", HELPERS)


def _imports_any(tree: ast.Module, packages: Collection[str]) -> bool:
    for node in nodes_of(tree, ast.Import, ast.ImportFrom):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if any(name.partition(".")[0] in packages for name in names):
            return True
    return False
