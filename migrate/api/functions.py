"""Analyse, port and compare from Python."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from migrate.errors import RequestError
from migrate.findings import in_order

from .results import AnalysisResult, Assumption, Finding, ParityResult, PortResult

if TYPE_CHECKING:
    from migrate.port.tree import PortedTree


def port_source(source: str, *, target: str = "nn", name: str = "source.py") -> PortResult:
    """Port one source text. `target` is nn, mint or torch-npu; `name` is its file name."""
    with _ported(source, target, name) as (path, tree):
        (ported,) = [one for one in tree.files.values() if one.source.path == path]
        return PortResult(
            source,
            source if ported.problem else ported.text,
            "".join(tree.helpers.values()),
            _findings(tree),
            _assumptions(tree),
        )


def analyze_source(source: str, *, name: str = "source.py") -> AnalysisResult:
    """Count what one source text uses of torch, and say what does not port by itself."""
    from migrate.analyze.collect import analyse
    from migrate.analyze.model import Options
    from migrate.project import discover
    from migrate.table import Table

    with _ported(source, "nn", name) as (path, tree):
        table = Table()
        (report,) = analyse(discover([path]), table, Options(), 1)
        apis = sorted({use.api for use in report.uses if use.form != "unknown"})
        entries = {api: table.get(api) for api in apis}
        return AnalysisResult(
            tree.coverage.uses,
            tree.coverage.ported,
            _findings(tree),
            _assumptions(tree),
            {api: entry.target if entry else "" for api, entry in entries.items()},
        )


def check_parity(
    torch: str,
    mindspore: str,
    *,
    inputs: Sequence[str],
    classes: int | None = None,
    options: Sequence[str] = (),
) -> ParityResult:
    """Run one step of both models and compare it: what `ms-migrate parity` does.

    check_parity("net.py:Net", "ported/net.py:Net", inputs=["8,3,32,32"], classes=10)

    `options` are further words of the command line, such as ("--steps", "3").
    """
    from migrate.cli import build_parser
    from migrate.commands.parity import make_request
    from migrate.parity import check
    from migrate.parity.request import needs
    from migrate.report import parity_console, parity_html, parity_json

    words = ["parity", torch, mindspore]
    for shape in inputs:
        words += ["--input", shape]
    if classes is not None:
        words += ["--classes", str(classes)]
    parser, _ = build_parser("parity")
    try:
        parsed = parser.parse_args([*words, *options])
    except SystemExit:
        raise RequestError(f"cannot be understood: {' '.join(words)}") from None
    needs.check()
    folder = Path(tempfile.mkdtemp(prefix="ms-migrate-"))
    try:
        report = check.run(make_request(parsed), folder, lambda line: None)
        document: dict[str, Any] = parity_json.as_data(report)
        return ParityResult(
            str(document["verdict"]),
            parity_console.render(report),
            parity_html.render(report),
            document,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _ported(source: str, target: str, name: str) -> Iterator[tuple[Path, PortedTree]]:
    from migrate.port.tree import Options, port_tree
    from migrate.project import discover
    from migrate.table import Table

    if target not in ("nn", "mint", "torch-npu"):
        raise RequestError(f"there is no target {target!r}", next_step="nn, mint or torch-npu")
    if Path(name).name != name or not name.endswith((".py", ".ipynb")):
        raise RequestError(f"{name!r} is not the name of a Python file")
    with tempfile.TemporaryDirectory(prefix="ms-migrate-") as folder:
        path = Path(folder, name)
        path.write_text(source, encoding="utf-8")
        options = Options(mint=target == "mint", npu=target == "torch-npu", jobs=1)
        yield path, port_tree([path], discover([path]), Table(), options)


def _findings(tree: PortedTree) -> list[Finding]:
    return [
        Finding(one.line, one.column, one.code, one.api, one.severity, one.message, one.next_step)
        for one in in_order(tree.findings)
    ]


def _assumptions(tree: PortedTree) -> list[Assumption]:
    return [Assumption(one.line, one.api, one.what, one.check) for one in tree.coverage.assumptions]
