"""`ms-migrate analyze`: read the options, analyse, report, and say by the exit code what is due."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from migrate.analyze.collect import analyse
from migrate.analyze.model import LEVELS, Analysis, FileReport, Options
from migrate.analyze.summary import summarise
from migrate.errors import RequestError
from migrate.printable import printable
from migrate.project import Project, discover
from migrate.table import Table, TableError
from migrate.table.entry import PLATFORMS, VERSIONS

FORMATS = ("text", "json", "sarif", "markdown", "html")
_BY_ENDING = {".json": "json", ".sarif": "sarif", ".md": "markdown", ".html": "html"}
# Fewer files than this are done before a bar could be read.
_LONG = 150


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="files, directories or notebooks"
    )
    parser.add_argument(
        "--format", choices=FORMATS, help="default: by the ending of -o FILE, else text"
    )
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="write the report there")
    parser.add_argument(
        "--device", choices=PLATFORMS, default="", help="judge for this device (default: any)"
    )
    parser.add_argument(
        "--mode",
        choices=("pynative", "graph", "both"),
        default="both",
        help="judge for this execution mode (default: both)",
    )
    parser.add_argument(
        "--ms-version",
        choices=VERSIONS,
        default=VERSIONS[-1],
        help=f"judge for this MindSpore (default: {VERSIONS[-1]})",
    )
    parser.add_argument(
        "--min-status",
        choices=LEVELS,
        default="supported",
        help="leave out rows that need less work than this",
    )
    parser.add_argument(
        "--jobs", metavar="N", type=_jobs, default=0, help="processes (default: by size, at most 2)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="only the summary line")


def _jobs(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 64:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes from 1 to 64")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Exit code 0: everything ports by itself; 1: someone must act; 2: nothing could be read."""
    output: Path | None = options.output
    _refuse_bad_output(output)
    project = discover(options.paths)
    table = Table(version=options.ms_version)
    wanted = Options(options.device, options.mode, options.min_status, options.ms_version)
    reports = _with_progress(analyse(project, table, wanted, options.jobs), project, options.quiet)
    try:
        analysis = summarise(reports, project.skipped, table, wanted)
    except TableError as error:
        raise RequestError(str(error), next_step="mend the mapping file, or reinstall") from None
    if not analysis.files:
        for finding in analysis.skipped:
            print(f"ms-migrate: {printable(str(finding))}", file=sys.stderr)
        return 2
    _deliver(analysis, output, _format(options.format, output), options.quiet)
    return 1 if analysis.must_act else 0


def _refuse_bad_output(output: Path | None) -> None:
    """A long analysis should not end with nowhere to put it."""
    if output is None:
        return
    if output.is_dir():
        raise RequestError("is a directory", where=str(output), next_step="give -o a file name")
    if not output.parent.is_dir():
        raise RequestError(
            "its directory does not exist",
            where=str(output),
            next_step="create the directory first",
        )


def _format(asked: str | None, output: Path | None) -> str:
    return asked or (_BY_ENDING.get(output.suffix.lower(), "text") if output else "text")


def _deliver(analysis: Analysis, output: Path | None, form: str, quiet: bool) -> None:
    from migrate.report import console
    from migrate.report import output as out

    if output is not None:
        out.write_file(output, render(analysis, form))
        if not quiet:
            print(f"ms-migrate: wrote {printable(str(output))}", file=sys.stderr)
        return
    if form != "text":
        sys.stdout.write(render(analysis, form))
        return
    with out.screen() as screen:
        (console.show_summary if quiet else console.show)(analysis, screen)


def render(analysis: Analysis, form: str) -> str:
    """The report as text in one of FORMATS."""
    if form == "json":
        from migrate.report.json_document import render as render_json

        return render_json(analysis)
    if form == "sarif":
        from migrate.report.sarif import render as render_sarif

        return render_sarif(analysis)
    if form == "markdown":
        from migrate.report.markdown import render as render_markdown

        return render_markdown(analysis)
    if form == "html":
        from migrate.report.html import render as render_html

        return render_html(analysis)
    import io

    from migrate.report.console import show
    from migrate.report.output import plain_console, trimmed

    buffer = io.StringIO()
    show(analysis, plain_console(buffer))
    return trimmed(buffer.getvalue())


def _with_progress(
    reports: Iterable[FileReport], project: Project, quiet: bool
) -> Iterator[FileReport]:
    """A bar on standard error for long trees, where someone is there to see it."""
    total = len(project.files)
    if quiet or total < _LONG or not sys.stderr.isatty():
        yield from reports
        return
    from rich.progress import track

    from migrate.report.style import make_console

    yield from track(
        reports, "Reading", total=total, console=make_console(error=True), transient=True
    )
