"""`ms-migrate capture`: record one side's step, to be compared on another machine."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from migrate.commands.parity import teller
from migrate.envelope import as_text, envelope
from migrate.errors import RequestError
from migrate.files.atomic import staging_directory
from migrate.files.lock import sole_writer
from migrate.parity.request import inputs, needs
from migrate.parity.request import options as shared
from migrate.parity.request.plan import Plan
from migrate.parity.workers import worker
from migrate.printable import printable


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("framework", choices=("torch", "mindspore"), help="whose step to record")
    parser.add_argument(
        "model", metavar="TARGET", help="path/file.py:callable or package.module:callable(args)"
    )
    parser.add_argument("-o", "--output", required=True, metavar="STEP", help="folder to write")
    parser.add_argument(
        "--reference",
        metavar="STEP",
        help="torch's step: weights, inputs and loss come from it (mindspore only)",
    )
    parser.add_argument(
        "--mode", choices=("pynative", "graph"), default="pynative", help="MindSpore's mode"
    )
    parser.add_argument(
        "--map", metavar="FILE", help="names that differ: lines of torch = mindspore, or JSON"
    )
    parser.add_argument(
        "--own-loss", default="", metavar="TARGET", help="a loss(output, target) of your own"
    )
    parser.add_argument(
        "--own-optimizer", default="", metavar="TARGET", help="an optimizer(model) of your own"
    )
    parser.add_argument(
        "--python", default="", metavar="EXE", help="a Python that has the framework"
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print the result"
    )
    shared.add_step_options(parser)
    shared.add_loading_options(parser, (("--path", "the model"),))
    shared.add_machine_options(parser)


def run(options: argparse.Namespace) -> int:
    """Record the step; the folder appears only when it is whole."""
    needs.check()
    worker.limit_memory(options.memory_limit)
    from migrate.parity.workers import record

    output = Path(options.output)
    if os.path.lexists(output):
        raise RequestError("exists already", where=options.output, next_step="give -o a new folder")
    if not output.resolve().parent.is_dir():
        raise RequestError("no such folder", where=str(output.resolve().parent))
    tell = teller(options.quiet)
    place = output.resolve()
    with (
        sole_writer(place),
        staging_directory(place) as staging,
        tempfile.TemporaryDirectory(prefix="ms-migrate-") as scratch,
    ):
        pending = staging / place.name
        pending.mkdir()
        job = (
            _torch_job(options, pending)
            if options.framework == "torch"
            else _other_job(options, pending)
        )
        name = "torch" if options.framework == "torch" else f"MindSpore ({options.mode})"
        tell(f"running {name}")
        started = worker.start(
            name, job, Path(scratch), python=options.python, timeout=options.timeout
        )
        worker.finish([started])
        os.replace(pending, place)
    info = record.read_info(output, "run")
    stopped = str((info.get("error") or {}).get("what", ""))
    if options.format == "json":
        sys.stdout.write(_document(options, started, stopped))
    elif stopped:
        print(f"{printable(options.output)}: stopped early: {printable(stopped)}")
    else:
        print(
            f"{printable(options.output)}: recorded in {started.seconds:.1f} s, "
            f"{started.peak_bytes / 2**20:.0f} MiB at peak"
        )
    return int(bool(stopped))


def _document(options: argparse.Namespace, started: worker.Worker, stopped: str) -> str:
    body = {
        "step": options.output,
        "framework": options.framework,
        "target": options.model,
        "mode": options.mode if options.framework == "mindspore" else None,
        "stopped_early": stopped or None,
        "seconds": round(started.seconds, 2),
        "peak_bytes": started.peak_bytes,
    }
    return as_text(envelope("capture", body, exit_code=int(bool(stopped))))


def _torch_job(options: argparse.Namespace, step: Path) -> dict[str, object]:
    from migrate.parity import check

    if options.reference:
        raise RequestError("--reference is for mindspore: torch's step is the reference")
    request = check.Request(
        torch=shared.check_target(options.model),
        mindspore="",
        plan=shared.make_plan(options),
        torch_loss=shared.check_target(options.own_loss) if options.own_loss else "",
        torch_optimizer=shared.check_target(options.own_optimizer) if options.own_optimizer else "",
        torch_loading=shared.make_loading(options, options.path),
    )
    return check.torch_job(request, step)


def _other_job(options: argparse.Namespace, step: Path) -> dict[str, object]:
    from migrate.parity import check
    from migrate.parity.workers import record

    if not options.reference:
        raise RequestError(
            "MindSpore needs torch's weights and inputs",
            next_step="record torch first, then give its step with --reference STEP",
        )
    if options.input:
        raise RequestError("the inputs come from --reference", next_step="leave out --input")
    start, _ = record.read_start(Path(options.reference))
    if start["framework"] != "torch":
        raise RequestError("is not a torch step", where=options.reference)
    request = check.Request(
        torch="",
        mindspore=shared.check_target(options.model),
        plan=replace(Plan(inputs=[inputs.InputSpec("0", (1,))]), seed=start["plan"]["seed"]),
        device=options.device,
        renames=shared.read_renames(options.map),
        ms_loss=shared.check_target(options.own_loss) if options.own_loss else "",
        ms_optimizer=shared.check_target(options.own_optimizer) if options.own_optimizer else "",
        ms_loading=shared.make_loading(options, options.path),
    )
    reference = Path(options.reference).resolve()
    return check.mindspore_job(request, options.mode, step, reference, wait=False)
