"""`ms-migrate demo`: the whole way on the bundled ResNet, with the commands a user would type."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec
from itertools import count
from pathlib import Path

from migrate.envelope import as_text, envelope
from migrate.errors import RequestError
from migrate.resources import folder
from migrate.table.entry import PLATFORMS

MODEL = "resnet18"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        help="where the port and the reports go (default: ms-migrate-demo here)",
    )
    parser.add_argument(
        "--device", choices=PLATFORMS, default="CPU", help="where MindSpore runs (default: CPU)"
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="how to print the result; json: what the commands print goes to standard error",
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
    return _demo(options.output or _fresh(Path("ms-migrate-demo")), options)


def _fresh(wanted: Path) -> Path:
    """The folder, or the first of its numbered brothers that is not there yet."""
    numbered = (wanted.with_name(f"{wanted.name}-{number}") for number in count(2))
    return wanted if not wanted.exists() else next(p for p in numbered if not p.exists())


def _demo(output: Path, options: argparse.Namespace) -> int:
    source = folder("reference_pt") / "resnet.py"
    ported = output / "ported"
    reports = {name: output / f"{name}.html" for name in ("analyze", "port", "parity")}
    if ported.exists():
        raise RequestError("exists", where=str(ported), next_step="choose another -o DIR")
    check = ["--input", "4,3,32,32", "--classes", "1000", "--device", options.device]
    steps: list[list[object]] = [
        ["analyze", source],
        ["analyze", source, "--format", "html", "-o", reports["analyze"], "--quiet"],
        ["port", source, "-o", ported, "--report", reports["port"]],
        [
            *("parity", f"{source}:{MODEL}", f"{ported / source.name}:{MODEL}"),
            *(*check, "--report", reports["parity"]),
        ],
    ]
    output.mkdir(parents=True, exist_ok=True)
    codes: list[int] = []
    as_json = options.format == "json"
    with redirect_stdout(sys.stderr if as_json else sys.stdout):
        for step in steps:
            codes.append(_type(step, quiet=options.quiet))
            if codes[-1] >= 2:
                break
    written = {name: report for name, report in reports.items() if report.exists()}
    if as_json:
        commands = [
            {"command": ["ms-migrate", *map(str, step)], "exit_code": code}
            for step, code in zip(steps, codes, strict=False)
        ]
        pages = {name: str(report) for name, report in written.items()}
        body = {"port": str(ported), "reports": pages, "commands": commands}
        sys.stdout.write(as_text(envelope("demo", body, exit_code=max(codes))))
        return max(codes)
    print(f"\nThe port: {ported}")
    for name, report in written.items():
        print(f"The report of {name}: {report}")
    return max(codes)


def _type(words: Sequence[object], *, quiet: bool) -> int:
    """Run one command as if it had been typed."""
    from migrate.cli import main

    typed = [str(word) for word in words]
    if not quiet:
        print(f"\n$ ms-migrate {' '.join(typed)}", file=sys.stderr, flush=True)
    return main(typed)
