"""`ms-migrate parity`: one step in both frameworks, compared stage by stage."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from migrate.errors import RequestError
from migrate.parity.request import needs
from migrate.parity.request import options as shared
from migrate.parity.workers import worker
from migrate.printable import printable
from migrate.report.output import check_file

if TYPE_CHECKING:
    from migrate.parity import check


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "torch",
        metavar="TORCH",
        nargs="?",
        help="path/file.py:callable or package.module:callable(args)",
    )
    parser.add_argument(
        "mindspore", metavar="MINDSPORE", nargs="?", help="the same, for the MindSpore model"
    )
    shared.add_step_options(parser)
    shared.add_loading_options(
        parser, (("--torch-path", "the torch model"), ("--ms-path", "the MindSpore model"))
    )
    shared.add_machine_options(parser)
    shared.add_tolerance_options(parser)
    parser.add_argument(
        "--mode",
        choices=("pynative", "graph", "both"),
        default="both",
        help="MindSpore's execution mode",
    )
    parser.add_argument(
        "--map", metavar="FILE", help="names that differ: lines of torch = mindspore, or JSON"
    )
    parser.add_argument(
        "--submodule",
        default="",
        metavar="PATH",
        help="check only this submodule, on recorded inputs",
    )
    own = parser.add_argument_group("functions of your own")
    own.add_argument(
        "--torch-loss", default="", metavar="TARGET", help="loss(output, target) in torch"
    )
    own.add_argument(
        "--ms-loss", default="", metavar="TARGET", help="loss(output, target) in MindSpore"
    )
    own.add_argument(
        "--torch-optimizer", default="", metavar="TARGET", help="optimizer(model) in torch"
    )
    own.add_argument(
        "--ms-optimizer", default="", metavar="TARGET", help="optimizer(model) in MindSpore"
    )
    pythons = parser.add_argument_group("interpreters")
    pythons.add_argument(
        "--torch-python", default="", metavar="EXE", help="a Python that has torch"
    )
    pythons.add_argument(
        "--ms-python", default="", metavar="EXE", help="a Python that has MindSpore"
    )
    parser.add_argument(
        "--data",
        nargs=2,
        metavar=("TORCH", "MINDSPORE"),
        help="compare two preprocessing functions on --images",
    )
    parser.add_argument("--images", nargs="+", default=[], metavar="FILE", help="images for --data")
    parser.add_argument(
        "--hyperparameters",
        nargs=2,
        metavar=("TORCH.py", "MINDSPORE.py"),
        help="list the settings of two scripts",
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print the result"
    )
    parser.add_argument("--report", metavar="FILE.html", help="also write one self-contained page")
    parser.add_argument("--keep", metavar="DIR", help="keep both recorded steps here")


def run(options: argparse.Namespace) -> int:
    """Check, show, and return 0, 1 or 2."""
    worker.limit_memory(options.memory_limit)
    if options.data:
        needs.check()
        from migrate.parity import data_parity

        return data_parity.run(options)
    if options.hyperparameters:
        from migrate.parity import hyperparameters

        return hyperparameters.run(options)
    if not options.torch or not options.mindspore:
        raise RequestError(
            "two models are needed", next_step="ms-migrate parity TORCH MINDSPORE --input SHAPE"
        )
    check_file(options.report)
    needs.check()
    return check_models(options)


def check_models(options: argparse.Namespace) -> int:
    """The main use: two models, one step."""
    from migrate.parity import check, submodule
    from migrate.report import parity_console, parity_html, parity_json, parity_progress

    request = make_request(options)
    folder = Path(options.keep) if options.keep else Path(tempfile.mkdtemp(prefix="ms-migrate-"))
    if options.keep and folder.exists() and any(folder.iterdir()):
        raise RequestError("is not empty", where=options.keep, next_step="give --keep a new folder")
    tell = teller(options.quiet)
    try:
        if options.submodule:
            report = submodule.run(request, options.submodule, folder, tell)
        else:
            follow = check.unseen if options.quiet else parity_progress.following
            report = check.run(request, folder, tell, follow)
        if options.format == "json":
            print(parity_json.render(report))
        else:
            print(parity_console.render(report))
        if options.report:
            parity_html.write(report, Path(options.report))
            tell(f"report written to {options.report}")
        return report.exit_code
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


def make_request(options: argparse.Namespace) -> check.Request:
    """Read the whole request, refusing what is wrong before any worker starts."""
    from migrate.parity import check

    for ours, theirs, what in (
        (options.torch_loss, options.ms_loss, "loss"),
        (options.torch_optimizer, options.ms_optimizer, "optimizer"),
    ):
        if bool(ours) != bool(theirs):
            raise RequestError(
                f"give --torch-{what} and --ms-{what} together",
                next_step="or use a short spec instead",
            )
    plan = shared.make_plan(options)
    modes = ("pynative", "graph") if options.mode == "both" else (options.mode,)
    return check.Request(
        torch=shared.check_target(options.torch),
        mindspore=shared.check_target(options.mindspore),
        plan=plan,
        modes=modes,
        tolerance=shared.make_tolerance(options, options.amp),
        device=options.device,
        torch_python=options.torch_python,
        ms_python=options.ms_python,
        timeout=options.timeout,
        renames=shared.read_renames(options.map),
        torch_loss=shared.check_target(options.torch_loss) if options.torch_loss else "",
        ms_loss=shared.check_target(options.ms_loss) if options.ms_loss else "",
        torch_optimizer=shared.check_target(options.torch_optimizer)
        if options.torch_optimizer
        else "",
        ms_optimizer=shared.check_target(options.ms_optimizer) if options.ms_optimizer else "",
        torch_loading=shared.make_loading(options, options.torch_path),
        ms_loading=shared.make_loading(options, options.ms_path),
    )


def teller(quiet: bool) -> check.Tell:
    """Progress goes to stderr, or nowhere."""

    def tell(line: str) -> None:
        if not quiet:
            print(printable(line), file=sys.stderr)

    return tell
