"""The options of `ms-migrate doctor` and the order of its work."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from migrate.errors import RequestError

if TYPE_CHECKING:
    from migrate.doctor.diagnose import Check


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device", choices=("CPU", "GPU", "Ascend"), default="CPU", help="MindSpore's device"
    )
    parser.add_argument(
        "--python", metavar="EXE", default="", help="examine this interpreter instead of our own"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=120.0,
        metavar="SECONDS",
        help="for each probe (default: %(default)g)",
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print the result"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print problems only")


def run(options: argparse.Namespace) -> int:
    """Probe, judge, show; 1 when there is something to fix."""
    if options.timeout <= 0:
        raise RequestError(f"--timeout must be positive, not {options.timeout:g}")
    python = _executable(options.python)
    shown = _short(python)

    from migrate import onednn
    from migrate.doctor.diagnose import PROBLEM, diagnose
    from migrate.doctor.probe import Probe, run_all

    with _progress(options.quiet or options.format == "json"):
        probes = run_all(python, options.device, options.timeout)
        works = "device" in probes.get("mindspore", Probe()) and options.device == "CPU"
        timing = onednn.measured(python) if works and onednn.VARIABLE not in os.environ else None
        imports = "import" in probes.get("mindspore", Probe())
        preflight = [_preflight(python, options.timeout)] if imports else []
    checks = [*diagnose(probes, options.device, shown, timing), *preflight]

    from migrate.doctor import show
    from migrate.report.output import screen

    if options.format == "json":
        sys.stdout.write(show.as_document(checks, device=options.device, python=python))
    else:
        with screen() as console:
            show.show(checks, console, quiet=options.quiet)
    return int(any(check.status == PROBLEM for check in checks))


def _preflight(python: str, seconds: float) -> Check:
    """Whether `ms-migrate preflight` works here: MindSpore's Ascend backend is started once."""
    from migrate.doctor.diagnose import OK, SKIPPED, WARNING, Check
    from migrate.preflight import installation, trial

    try:
        unfit, _ = installation.find(python).problem()
    except RequestError as error:
        unfit = error.what
    if unfit:
        return Check("preflight", SKIPPED, "not here", unfit)
    what, next_step = trial.problem(python, seconds)
    if what:
        return Check("preflight", WARNING, "fails", f"{what}; {next_step}" if next_step else what)
    return Check("preflight", OK, "works", "MindSpore's Ascend backend starts, without a device")


def _executable(given: str) -> str:
    if not given:
        return sys.executable
    found = shutil.which(given)
    if found is None:
        raise RequestError(
            "no such program", where=given, next_step="give --python the path of a Python"
        )
    return os.path.abspath(found)  # probes run in another folder; symlinks make the venv, keep them


def _short(python: str) -> str:
    """As a person would type it here: relative when it lies below the current folder."""
    try:
        return str(Path(python).relative_to(Path.cwd()))
    except ValueError:
        return python


def _progress(silent: bool) -> AbstractContextManager[object]:
    """A line on a terminal while the frameworks load; nothing anywhere else."""
    if silent or not sys.stderr.isatty():
        return nullcontext()
    from migrate.report.style import make_console

    return make_console(error=True).status("Asking both frameworks to run a convolution…")
