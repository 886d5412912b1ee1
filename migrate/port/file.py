"""Port one file: text in, text and findings out."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from migrate.findings import Finding
from migrate.port.context import Context
from migrate.port.helper_source import helper_index
from migrate.port.imports import Rewriter
from migrate.port.leftovers import without_leftovers
from migrate.port.spelling import HELPERS, Spelling
from migrate.project import ReadProblem, SourceFile
from migrate.resolve import Resolver

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
    resolution = resolver.file(source, keep_types=True, text=text)
    if resolution.problem is not None:
        return PortedFile(source, text, problem=resolution.problem)
    assert resolution.scope is not None
    tree = resolution.scope.tree
    if _is_mindspore(tree):
        # Already ported: only what still names torch can need work; methods are MindSpore's own.
        resolution.usages = [
            usage
            for usage in resolution.usages
            if usage.form != "unknown" and not usage.api.startswith(_MEMBERS)
        ]
    if not resolution.usages and not _imports_torch(tree):
        return PortedFile(source, text)
    spelling = Spelling(taken=bound_names(tree, resolver), helper_import=helper_import)
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
    try:
        rewriter = Rewriter(context, tree)
        new = cst.parse_module(text).visit(rewriter)
        rewriter.finish()
        code = without_leftovers(new, tree, spelling.imports)
    except Exception as error:  # one bad file must cost no other, and never be half-ported
        reason = f"could not be rewritten safely ({type(error).__name__}: {error})"
        finding = context.flag(None, "MS312", reason, "report this file; it was left as it is")
        return PortedFile(source, text, findings=[finding], usages=len(resolution.usages))
    return PortedFile(
        source,
        code,
        changed=code != text,
        findings=list(context.findings),
        ported=context.ported,
        usages=len(resolution.usages),
        helpers=[name for name in spelling.helpers if re.search(rf"\b{HELPERS}\.{name}\b", code)],
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
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler
        ):
            names.add(node.name or "")
        elif isinstance(node, ast.Import):
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


def _imports_torch(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(
            a.name.partition(".")[0] in ("torch", "torchvision") for a in node.names
        ):
            return True
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in (
            "torch",
            "torchvision",
        ):
            return True
    return False


def _is_mindspore(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(
            a.name.partition(".")[0] == "mindspore" for a in node.names
        ):
            return True
        if (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").partition(".")[0] == "mindspore"
        ):
            return True
    return False
