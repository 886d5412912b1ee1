"""Analyse, port and compare from Python."""

from __future__ import annotations

import argparse
import io
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from migrate.errors import RequestError
from migrate.findings import in_order
from migrate.project.text import declared_encoding

from .results import AnalysisResult, Assumption, Finding, ParityResult, PortResult

if TYPE_CHECKING:
    from migrate.port.tree import PortedTree


def port_source(source: str, *, target: str = "nn", name: str = "source.py") -> PortResult:
    """Port one source text. `target` is nn, mint or torch-npu; `name` is its file name."""
    with _ported(source, target, name) as (path, tree):
        (ported,) = [one for one in tree.files.values() if one.source.path == path]
        return PortResult(
            source,
            source if ported.problem else ported.encoded().decode(_encoding(source, path)),
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

    `options` are further words of the command line, such as ("--steps", "3"). A request that cannot
    be carried out raises RequestError; a difference is a result.
    """
    from migrate.commands.parity import make_request
    from migrate.parity import check, submodule
    from migrate.parity.request import needs
    from migrate.parity.workers import worker
    from migrate.report import parity_console, parity_html, parity_json

    words = ["parity", torch, mindspore]
    for shape in [inputs] if isinstance(inputs, str) else inputs:
        words += ["--input", shape]
    if classes is not None:
        words += ["--classes", str(classes)]
    parsed = _parsed([*words, *options])
    worker.limit_memory(parsed.memory_limit)
    needs.check()
    folder = Path(tempfile.mkdtemp(prefix="ms-migrate-"))
    try:
        request = make_request(parsed)
        if parsed.submodule:
            report = submodule.run(request, parsed.submodule, folder, lambda line: None)
        else:
            report = check.run(request, folder, lambda line: None)
        document: dict[str, Any] = parity_json.as_data(report)
        return ParityResult(
            str(document["verdict"]),
            parity_console.render(report),
            parity_html.render(report),
            document,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# What only the command does, and what stands in its place here.
_NOT_HERE = {
    "report": "write the result's `html` to a file",
    "format": "the result's `document` is the JSON",
    "keep": "`ms-migrate capture` records steps to keep",
    "data": "run `ms-migrate parity --data`",
    "hyperparameters": "run `ms-migrate parity --hyperparameters`",
}


def _parsed(words: list[str]) -> argparse.Namespace:
    """As the command line would understand the words; what it would print is the error's text."""
    from migrate.cli import build_parser

    parser, own = build_parser("parity")
    said = io.StringIO()
    try:
        with redirect_stderr(said), redirect_stdout(io.StringIO()):
            parsed, unknown = parser.parse_known_args(words)
            if unknown:
                own.refuse_unknown(unknown)
    except SystemExit:
        reason = said.getvalue().partition("\n")[0].partition(": ")[2]
        raise RequestError(reason or f"cannot be understood: {' '.join(words)}") from None
    for name, instead in _NOT_HERE.items():
        if getattr(parsed, name) not in (None, "text"):
            raise RequestError(f"check_parity has no --{name}", next_step=instead)
    return parsed


@contextmanager
def _ported(source: str, target: str, name: str) -> Iterator[tuple[Path, PortedTree]]:
    from migrate.port.tree import Options, port_tree
    from migrate.project import discover
    from migrate.table import Table

    if target not in ("nn", "mint", "torch-npu"):
        raise RequestError(f"there is no target {target!r}", next_step="nn, mint or torch-npu")
    if not isinstance(source, str):
        raise TypeError(f"the source is a text, not {type(source).__name__}")
    if Path(name).name != name or "\0" in name or not name.endswith((".py", ".ipynb")):
        raise RequestError(f"{name!r} is not the name of a Python file")
    with tempfile.TemporaryDirectory(prefix="ms-migrate-") as folder:
        path = Path(folder, name)
        path.write_bytes(_bytes(source, path))
        options = Options(mint=target == "mint", npu=target == "torch-npu", jobs=1)
        yield path, port_tree([path], discover([path]), Table(), options)


def _encoding(source: str, path: Path) -> str:
    """The encoding that a text declares for the file that it is to be."""
    if path.suffix == ".ipynb":
        return "utf-8"
    try:
        declared = declared_encoding(source[:500].encode("utf-8", errors="replace"))
    except SyntaxError as error:
        raise RequestError(str(error.msg), next_step=_DECLARATION) from None
    return "utf-8" if declared == "utf-8-sig" else declared


_DECLARATION = "correct the declaration in the first lines, or leave it out"


def _bytes(source: str, path: Path) -> bytes:
    """As the text would be saved; its declaration must hold what is in it."""
    encoding = _encoding(source, path)
    try:
        return source.encode(encoding)
    except (UnicodeError, LookupError):
        what = f"the source has letters that {encoding} cannot hold"
        raise RequestError(what, next_step=_DECLARATION) from None


def _findings(tree: PortedTree) -> list[Finding]:
    return [
        Finding(
            one.line,
            one.column,
            one.code,
            one.api,
            one.severity,
            one.message,
            one.next_step,
            one.cell,
        )
        for one in in_order(tree.findings)
    ]


def _assumptions(tree: PortedTree) -> list[Assumption]:
    return [Assumption(one.line, one.api, one.what, one.check) for one in tree.coverage.assumptions]
