"""What each stage knows of the example, as text: the middle part of docs/architecture.md."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator
from pathlib import Path

from migrate.flow import Flow
from migrate.port.tree import Options, port_tree
from migrate.project import Project, discover
from migrate.resolve import FileResolution, Resolver
from migrate.table import Table
from tests.walkthrough.example import NET, TRAIN


def walkthrough() -> str:
    """Markdown, one section a stage."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "program"
        folder.mkdir()
        (folder / "net.py").write_text(NET, encoding="utf-8")
        (folder / "train.py").write_text(TRAIN, encoding="utf-8")
        project, table = discover([folder]), Table()
        resolver = Resolver(project, table)
        files = {f.module: f for f in project.files}
        train = resolver.file(files["train"])
        parts = [
            _section("project", _project(project, folder)),
            _section("resolve", _resolved(train)),
            _section("flow", _flow(train, resolver)),
            _section("port", _ported(folder, project, table)),
        ]
    return "\n\n".join(parts)


def _section(title: str, lines: Iterator[str] | list[str]) -> str:
    return "\n".join([f"### {title}", "", "```text", *lines, "```"])


def _project(project: Project, folder: Path) -> Iterator[str]:
    for path, node in sorted(project.imports.nodes.items()):
        found = [Path(imported).name for imported in node.imports]
        yield f"{Path(path).name}: module {node.source.module}, imports {found or 'no file'}"


def _resolved(resolution: FileResolution) -> Iterator[str]:
    for usage in resolution.usages:
        if usage.form != "import":
            yield f"line {usage.line:2}  {usage.form:9} {usage.api}"


def _flow(resolution: FileResolution, resolver: Resolver) -> Iterator[str]:
    flow = Flow(resolution, resolver.modules, resolver.interpreter)
    function = next(n for n in ast.walk(flow.tree) if isinstance(n, ast.FunctionDef))
    facts = flow.function(function)
    names = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == "out" and isinstance(node.ctx, ast.Load)
    ]
    for node in sorted(names, key=lambda n: (n.lineno, n.col_offset)):
        lines = [d.statement.lineno for d in facts.defuse.reaching(node) if d.statement]
        yield f"line {node.lineno}: `out` was bound at line {', '.join(map(str, lines))}"
    loop = next(n for n in ast.walk(function) if isinstance(n, ast.For))
    detach = loop.body[-2]
    live = sorted(facts.defuse.live_after(detach))
    yield f"after line {detach.lineno} these are read again: {', '.join(live)}"
    assert isinstance(detach, ast.Assign)
    carries = flow.gradient.carries(detach.value)
    answer = carries.answer.name.lower()
    yield f"does a gradient flow through `{ast.unparse(detach.value)}`? {answer}"


def _ported(folder: Path, project: Project, table: Table) -> Iterator[str]:
    result = port_tree([folder], project, table, Options(jobs=1))
    for target, ported in sorted(result.files.items()):
        counts = f"{ported.ported} of {ported.usages} usages, {len(ported.findings)} findings"
        yield f"# {target}: {counts}"
        yield from ported.text.rstrip("\n").split("\n")
        yield ""
