"""`ms-migrate compare`: two recorded steps, compared anywhere; neither framework is needed."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from migrate.errors import RequestError, describe
from migrate.parity.request import needs
from migrate.parity.request import options as shared
from migrate.project.path_argument import path_argument
from migrate.report.output import check_file


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "steps", nargs=2, metavar="STEP", help="one recorded by torch, one by MindSpore"
    )
    shared.add_tolerance_options(parser)
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print the result"
    )
    parser.add_argument(
        "--sources",
        nargs="+",
        type=path_argument,
        default=[],
        metavar="DIR",
        help="where the models' files are: lines of them are quoted only from here",
    )
    parser.add_argument("--report", metavar="FILE.html", help="also write one self-contained page")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


# What it looks like when a record lacks something, or has something else there: it may have been
# written by anyone.
_MISSED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def run(options: argparse.Namespace) -> int:
    """Compare, show, and return 0, 1 or 2."""
    check_file(options.report)
    needs.check()
    from migrate.parity.judge import source_files

    with source_files.limited_to(options.sources):
        try:
            return _compare(options)
        except _MISSED as error:
            raise RequestError(
                f"they do not hold what recorded steps hold: {describe(error)}",
                where=" and ".join(map(str, options.steps)),
                next_step="record both again; --debug shows what was missed",
            ) from error


def _compare(options: argparse.Namespace) -> int:
    from migrate.parity import check
    from migrate.parity.judge import compare
    from migrate.parity.judge.diagnose import compare_calls, diagnose
    from migrate.parity.judge.localize import backward_suspects, forward_suspects
    from migrate.parity.workers import record
    from migrate.report import parity_console, parity_html, parity_json

    began = time.monotonic()
    steps = {
        step.framework: step for step in (record.read_step(Path(name)) for name in options.steps)
    }
    if set(steps) != {"torch", "mindspore"}:
        raise RequestError(
            "one step must be torch's and the other MindSpore's",
            next_step="record them with ms-migrate capture torch and ms-migrate capture mindspore",
        )
    torch, other = steps["torch"], steps["mindspore"]
    if other.start["identity"] != torch.start["identity"]:
        raise RequestError(
            "the MindSpore step was not made from this torch step: weights or inputs differ",
            where=str(other.folder),
            next_step="record it again with --reference and this torch step",
        )
    tolerance = shared.make_tolerance(options, torch.start["plan"]["amp"])
    comparison = compare.compare(torch, other, tolerance)
    diagnosis = None
    if not comparison.ok:
        suspects = forward_suspects(comparison) or backward_suspects(comparison)
        diagnosis = diagnose(comparison, comparison, suspects, [])
        compare_calls(diagnosis, torch.start["target"], other.start["target"])
    report = check.Report(
        torch.start["target"],
        other.start["target"],
        torch.start["plan"],
        {
            "torch": torch.start["framework_version"],
            "mindspore": other.start["framework_version"],
            "python": torch.start["python"],
        },
        [comparison],
        {},
        diagnosis,
        tolerance,
        [],
        time.monotonic() - began,
    )
    if options.format == "json":
        print(parity_json.render(report))
    else:
        print(parity_console.render(report))
    if options.report:
        parity_html.write(report, Path(options.report))
    return report.exit_code
