"""`ms-migrate demo`: the whole way on the bundled ResNet, with the commands a user would type."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from migrate.errors import RequestError
from migrate.resources import folder
from migrate.table.entry import PLATFORMS

MODEL = "resnet18"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, help="keep the port and the report there"
    )
    parser.add_argument(
        "--device", choices=PLATFORMS, default="CPU", help="where MindSpore runs (default: CPU)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="results only, no commands")


def run(options: argparse.Namespace) -> int:
    """Analyze, port and check; the exit code is the worst of the three."""
    missing = [name for name in ("torch", "mindspore") if find_spec(name) is None]
    if missing:
        raise RequestError(
            f"needs {' and '.join(missing)}, which this environment does not have",
            next_step="pip install 'ms-migrate[run]', or run `make demo` in a checkout",
        )
    if options.output is not None:
        return _demo(options.output, options)
    with tempfile.TemporaryDirectory(prefix="ms-migrate-") as directory:
        return _demo(Path(directory) / "demo", options)


def _demo(output: Path, options: argparse.Namespace) -> int:
    source = folder("reference_pt") / "resnet.py"
    ported = output / "ported"
    report = output / "report.html"
    if ported.exists():
        raise RequestError("exists", where=str(ported), next_step="choose another -o DIR")
    check = ["--input", "4,3,32,32", "--classes", "1000", "--device", options.device]
    steps: list[list[object]] = [
        ["analyze", source],
        ["port", source, "-o", ported],
        [
            *("parity", f"{source}:{MODEL}", f"{ported / source.name}:{MODEL}"),
            *(*check, "--report", report),
        ],
    ]
    worst = 0
    for step in steps:
        worst = max(worst, _type(step, quiet=options.quiet))
        if worst == 2:
            break
    if options.output is not None and report.exists():
        print(f"\nThe report: {report}")
    return worst


def _type(words: Sequence[object], *, quiet: bool) -> int:
    """Run one command as if it had been typed."""
    from migrate.cli import main

    typed = [str(word) for word in words]
    if not quiet:
        print(f"\n$ ms-migrate {' '.join(typed)}", file=sys.stderr, flush=True)
    return main(typed)
