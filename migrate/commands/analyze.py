"""`ms-migrate analyze`: read the options, analyse, report, and say by the exit code what is due."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from migrate.analyze.collect import analyse
from migrate.analyze.model import LEVELS, Analysis, Options
from migrate.analyze.summary import summarise
from migrate.command_line.stdin import read_stdin
from migrate.envelope import failure
from migrate.errors import RequestError
from migrate.printable import printable
from migrate.progress import counted, tracked
from migrate.project import discover
from migrate.project.path_argument import path_argument
from migrate.project.process_count import process_count
from migrate.selection import Chooser, add_options, chooser, without_excluded
from migrate.selection.analysis import chosen_actions, translate_actions
from migrate.selection.choose import finish
from migrate.table import Table, TableError
from migrate.table.entry import PLATFORMS, VERSIONS

FORMATS = ("text", "json", "sarif", "markdown", "html", "github")
_UNREADABLE = ("MS201", "MS202", "MS204")
_BY_ENDING = {".json": "json", ".sarif": "sarif", ".md": "markdown", ".html": "html"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        type=path_argument,
        help="files, directories or notebooks; - for standard input",
    )
    parser.add_argument(
        "--format", choices=FORMATS, help="default: by the ending of -o FILE, else text"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=path_argument, help="write the report there"
    )
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
        help="leave out rows that need less work than this (default: supported, which is all)",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=process_count,
        default=0,
        help="processes (default: by size, at most 2)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="only the summary line")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="estimate by the table, without trying the port: several times faster, and less sure",
    )
    parser.add_argument(
        "--assumptions", action="store_true", help="list each assumption with its lines and a check"
    )
    add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Exit code 0: everything ports by itself; 1: someone must act; 2: nothing could be read."""
    from migrate.report.output import check_file

    output: Path | None = options.output.absolute() if options.output else None
    check_file(output)
    if options.write_baseline:
        check_file(options.baseline)
    chosen = chooser(options)
    with read_stdin(options.paths) as paths:
        return _analyze(options, paths, output, chosen)


def _analyze(
    options: argparse.Namespace, paths: list[Path], output: Path | None, chosen: Chooser
) -> int:
    project = without_excluded(discover(paths), options.exclude)
    table = Table(version=options.ms_version)
    wanted = Options(options.device, options.mode, options.min_status, options.ms_version)
    reports = tracked(
        analyse(project, table, wanted, options.jobs), "Reading", len(project.files), options.quiet
    )
    try:
        analysis = summarise(reports, project.skipped, table, wanted)
    except TableError as error:
        raise RequestError(str(error), next_step="fix the mapping file, or reinstall") from None
    if not analysis.files:
        for finding in analysis.skipped:
            print(f"ms-migrate: {printable(str(finding))}", file=sys.stderr)
        if options.format == "json" and analysis.skipped:
            first = analysis.skipped[0]
            sys.stdout.write(failure("analyze", 2, first.message, first.where, first.next_step))
        return 2
    if not options.quick:
        from migrate.measured import measure  # the porter and libcst come with it

        with counted("Porting", len(project.files), options.quiet) as done:
            measure(analysis, paths, project, table, options.jobs, done)
    chosen_actions(analysis, chosen)
    translate_actions(analysis, options.lang)
    unreadable = analysis.must_act and _is_unreadable(analysis)
    code, remark = finish(options, chosen, 2 if unreadable else int(analysis.must_act))
    analysis.exit_code = code
    _deliver(analysis, output, _format(options.format, output), options.quiet)
    _tell_assumptions(analysis, options, in_text=(output or options.format) in (None, "text"))
    if remark and not options.quiet:
        print(f"ms-migrate: {printable(remark)}", file=sys.stderr)
    return code


def _tell_assumptions(analysis: Analysis, options: argparse.Namespace, *, in_text: bool) -> None:
    """In short behind the text report; line by line on request, beside the other forms too."""
    from migrate.report.coverage_words import listed_assumptions, named_assumptions

    short = in_text and not options.quiet
    if analysis.coverage is None or not (options.assumptions or short):
        return
    words = listed_assumptions if options.assumptions else named_assumptions
    told = words(analysis.coverage)
    if told:
        (sys.stdout if in_text else sys.stderr).write(f"\n{printable(told)}")


def _is_unreadable(analysis: Analysis) -> bool:
    """Nothing was read: what there is to do is all about files that cannot be."""
    return not analysis.uses and all(action.code in _UNREADABLE for action in analysis.actions)


def _format(asked: str | None, output: Path | None) -> str:
    return asked or (_BY_ENDING.get(output.suffix.lower(), "text") if output else "text")


def _deliver(analysis: Analysis, output: Path | None, form: str, quiet: bool) -> None:
    from migrate.report import console
    from migrate.report import output as out

    if output is not None:
        out.write_file(output, render(analysis, form, output.parent))
        if not quiet:
            print(f"ms-migrate: wrote {printable(str(output))}", file=sys.stderr)
        return
    if form != "text":
        sys.stdout.write(render(analysis, form))
        return
    with out.screen() as screen:
        (console.show_summary if quiet else console.show)(analysis, screen)


def render(analysis: Analysis, form: str, base: Path | None = None) -> str:
    """The report as text in one of FORMATS; links of a page lead from `base`."""
    if form == "json":
        from migrate.report.json_document import render as render_json

        return render_json(analysis)
    if form == "sarif":
        from migrate.report.sarif import render as render_sarif

        return render_sarif(analysis)
    if form == "markdown":
        from migrate.report.markdown import render as render_markdown

        return render_markdown(analysis)
    if form == "github":
        from migrate.report.github import of_analysis
        from migrate.report.github import render as render_github
        from migrate.report.words import summary

        return render_github(of_analysis(analysis), summary(analysis))
    if form == "html":
        from migrate.report.html import render as render_html

        return render_html(analysis, base)
    import io

    from migrate.report.console import show
    from migrate.report.output import plain_console, trimmed

    buffer = io.StringIO()
    show(analysis, plain_console(buffer))
    return trimmed(buffer.getvalue())
