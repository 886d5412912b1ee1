"""Port one file: text in, text and findings out."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from migrate.analyze.coverage import Assumption, Coverage, file_coverage
from migrate.findings import Finding, make_finding
from migrate.flow.dataset_sums import may_add_datasets
from migrate.lower.run import Lowered
from migrate.pipeline import Pass, all_passes
from migrate.pipeline.context import MARKER, Context
from migrate.port.bound_names import bound_names
from migrate.port.guard import check_equivalence
from migrate.port.installed_helpers import helpers_in, with_installed
from migrate.port.passes import run_passes, run_source_passes
from migrate.port.reasons import reasons_of
from migrate.port.source_to_port import SourceToPort, lowered_source
from migrate.project import ReadProblem, SourceFile, parse
from migrate.resolve import FileResolution, Resolver
from migrate.resolve.members import class_is_module
from migrate.resolve.torch_in_text import texts_naming_torch
from migrate.resolve.usage import Usage
from migrate.rewrite.names.import_findings import import_findings
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.depth import DEEPEST_CHAIN, too_deep
from migrate.syntax.helper_import import helper_alias, with_way_up
from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.keyword_spaces import space_keywords
from migrate.table.helper_pieces import helper_index


@dataclass(slots=True)
class PortedFile:
    """What became of one source file."""

    source: SourceFile
    text: str
    changed: bool = False
    findings: list[Finding] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)
    helpers: list[str] = field(default_factory=list)
    generated: dict[str, str] = field(default_factory=dict)
    problem: Finding | None = None
    plan: str = ""  # of its training steps
    reasons: dict[int, str] = field(default_factory=dict)  # of its changed lines, for a report
    notes: list[tuple[int, str]] = field(default_factory=list)  # line, what the summary says of it
    digest: str = ""  # of the source as it was read
    adds_datasets: bool | None = None  # whether it may; None where its text was only read

    @property
    def usages(self) -> int:
        return self.coverage.uses

    @property
    def ported(self) -> int:
        return self.coverage.ported

    def encoded(self) -> bytes:
        """The text as bytes, in the encoding and with the line ends of the file as it was read."""
        self.source.refuse_changed(self.digest)
        return self.source.encode(self.text)


def unported_file(source: SourceFile) -> PortedFile:
    """A file that cannot meet torch: as it is, but for what keeps Python from reading it."""
    try:
        text = source.read()
        parse(source, text)
        return PortedFile(source, text)
    except ReadProblem as problem:
        return PortedFile(source, "", problem=problem.finding)


def _import_planner(
    resolver: Resolver, tree: ast.Module, text: str, helper_import: str
) -> ImportPlanner:
    planner = ImportPlanner(taken=bound_names(tree, resolver), helper_import=helper_import)
    planner.helper_alias = helper_alias(tree)
    planner.quote = '"' if text.count('"') > text.count("'") else "'"
    return planner


def port_file(
    resolver: Resolver,
    source: SourceFile,
    *,
    helper_import: str,
    mint: bool = False,
    data: str = "exact",
    style: str = "torch",
    input_shapes: dict[str, tuple[int, ...]] | None = None,
    text: str | None = None,
    passes: Sequence[Pass] = (),
    trace: bool = False,
) -> PortedFile:
    """Rewrite one file. A file that does not use torch comes back byte for byte.

    `passes` are those of the pipeline, unless a test gives others. `trace`: say of each changed
    line what stands behind it.
    """
    passes = passes or all_passes()
    try:
        text = source.read() if text is None else text
    except ReadProblem as problem:
        return PortedFile(source, "", problem=problem.finding)
    text = run_source_passes(text, passes)
    resolution = resolver.file(source, text=text)
    if resolution.problem is not None:
        return PortedFile(source, text, problem=resolution.problem)
    read = lowered_source(resolver, source, text, resolution, passes, style)
    table = resolver.modules.table
    found = import_findings(read.scope.tree, source, resolver.modules)
    if not found and not _is_touched(read.resolution, table.roots):
        counted = file_coverage(source, read.usages, (), table)
        changed = read.text != read.original
        return PortedFile(source, read.text, changed=changed, coverage=counted)
    deep = _deep_expression(source, read.scope.tree)
    if deep is not None:
        left = file_coverage(source, read.usages, (), table, left=True)
        return PortedFile(source, read.original, problem=deep, coverage=left)
    own_import = helper_import.rpartition("\n")[2]
    spelling = _import_planner(resolver, read.scope.tree, read.text, own_import)
    spelling.mint = mint
    context = _context(resolver, read.resolution, spelling, read.text)
    context.input_shapes = dict(input_shapes or {})
    context.data = data
    context.edited_lines |= read.styled.written_lines(read.text)
    context.snapshots = [("lower", read.text)] if trace else None
    context.lowered_names = read.lowered_names
    context.import_findings = found
    try:
        code = run_passes(read.text, context, passes)
        check_equivalence(read.text, code, context)
        read.styled.check(code)
    except Exception as error:  # one bad file must cost no other, and never be half-ported
        spaced = space_keywords(read.text)
        if isinstance(error, cst.CSTValidationError) and spaced != read.text:
            return port_file(
                resolver,
                source,
                helper_import=helper_import,
                mint=mint,
                data=data,
                style=style,
                input_shapes=input_shapes,
                text=spaced,
                passes=passes,
                trace=trace,
            )
        return _left_as_it_is(source, read.original, context, error, read.usages)
    return _ported(read, code, context, helper_import)


def _ported(read: SourceToPort, code: str, context: Context, helper_import: str) -> PortedFile:
    """What became of the file, with the helpers that its code needs."""
    original = read.original
    if read.scope.ported and not context.ported and not markers(code) - markers(read.text):
        code, helpers, context.generated = original, [], {}  # there is nothing left to be ported
    else:
        helpers = helpers_in(code, context)
        *way_up, own_import = helper_import.split("\n")
        code = with_installed(code, context, own_import, helpers)
        for line in way_up:
            code = with_way_up(code, line)
    findings = [_at_source(finding, read.lowered) for finding in context.findings]
    findings += read.styled.findings
    reasons = {}
    if context.snapshots is not None:
        snapshots = [*context.snapshots, ("helpers", code)]
        reasons = reasons_of(original, snapshots, read.usages, context.table)
    return PortedFile(
        read.file,
        code,
        changed=code != original,
        findings=findings,
        reasons=reasons,
        coverage=_coverage(read, findings, context),
        plan=context.plan,
        helpers=helpers,
        generated=context.generated,
        adds_datasets=may_add_datasets(context.tree, context.type),
        notes=read.styled.notes
        + [(read.lowered.source_line(line), text) for line, text in context.notes],
    )


def _coverage(read: SourceToPort, findings: list[Finding], context: Context) -> Coverage:
    """The counts of a ported file, with what its passes took for granted."""
    counted = file_coverage(read.file, read.usages, findings, context.table)
    found = read.styled.all_assumptions(context.assumptions, read.lowered.source_line)
    counted.assumptions += [
        Assumption(read.file.path, line, "", what, check) for line, what, check in found
    ]
    return counted


def _is_touched(resolution: FileResolution, roots: Collection[str]) -> bool:
    """Whether there is anything of torch's in a file.

    A class that derives from a Module of another file has a forward, if nothing else.
    """
    assert resolution.scope is not None
    if resolution.usages or any(class_is_module(cls) for cls in resolution.scope.classes):
        return True
    if any(texts_naming_torch(resolution.scope, roots)):
        return True
    return _imports_any(resolution.scope.tree, roots)


def markers(text: str) -> set[str]:
    """The comments that say what is left to do."""
    return {line.strip() for line in text.split("\n") if line.lstrip().startswith(MARKER)}


def _left_as_it_is(
    source: SourceFile, text: str, context: Context, error: Exception, usages: list[Usage]
) -> PortedFile:
    reason = f"could not be rewritten safely ({type(error).__name__}: {error})"
    finding = context.flag(None, "MS312", reason, "report this file; it was left as it is")
    left = file_coverage(source, usages, (), context.table, left=True)
    return PortedFile(source, text, findings=[finding], coverage=left)


def _at_source(finding: Finding, lowered: Lowered) -> Finding:
    """The finding with the line of the file as it was before anything was lowered."""
    return replace(finding, line=lowered.source_line(finding.line)) if lowered.lines else finding


def _deep_expression(source: SourceFile, tree: ast.Module) -> Finding | None:
    """An expression that libcst cannot walk."""
    deep = too_deep(tree)
    if deep is None:
        return None
    reason = f"an expression has more than {DEEPEST_CHAIN:,} operands"
    step = "split it, or build the sum in a loop; the file was left as it is"
    return make_finding("MS208", source.path, reason, step, line=deep.lineno)


def _context(
    resolver: Resolver, resolution: FileResolution, spelling: ImportPlanner, text: str
) -> Context:
    modules = resolver.modules
    context = Context(resolution, modules, modules.table, spelling, helper_index())
    context.interpreter = resolver.interpreter
    context.text, context.lines = text, text.split("\n")
    return context


def _imports_any(tree: ast.Module, packages: Collection[str]) -> bool:
    for node in nodes_of(tree, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            names = [] if node.level else [node.module or ""]
        if any(name.partition(".")[0] in packages for name in names):
            return True
    return False
