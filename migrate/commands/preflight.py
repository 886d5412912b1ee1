"""`ms-migrate preflight`: a ported program through MindSpore's Ascend backend, without a device."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from migrate.errors import RequestError

if TYPE_CHECKING:
    from migrate.preflight.result import Report
    from migrate.project.import_graph import ImportGraph

_SOCS = ("Ascend910B1", "Ascend910B2", "Ascend910B3", "Ascend910B4", "Ascend910_9391")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    from migrate.parity.request import losses

    parser.add_argument(
        "subject",
        metavar="TARGET|SCRIPT",
        help="path/file.py:callable(args) for one training step, or path/train.py for a program",
    )
    parser.usage = "%(prog)s [options] TARGET --input SPEC | SCRIPT [-- ARGS]"
    parser.epilog = "What follows -- goes to the program."
    step = parser.add_argument_group("the step (TARGET)")
    step.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="SPEC",
        help="an input at the real batch size: 32,3,224,224 | 8,16:int64:0:1000 (repeat)",
    )
    step.add_argument("--target", metavar="SPEC", help="the loss's target, written like an input")
    step.add_argument("--classes", type=int, metavar="N", help="cross entropy over N classes")
    step.add_argument(
        "--loss", metavar="SPEC", help=f"one of {', '.join(losses.KNOWN)}, with :key=value options"
    )
    step.add_argument("--ms-loss", default="", metavar="TARGET", help="loss(output, target)")
    step.add_argument("--optimizer", default="sgd:lr=0.01", metavar="SPEC", help="sgd, adamw, ...")
    step.add_argument("--ms-optimizer", default="", metavar="TARGET", help="optimizer(model)")
    step.add_argument(
        "--amp", choices=("O0", "O1", "O2", "O3"), default="O0", help="mixed precision level"
    )
    step.add_argument("--eval", action="store_true", help="only the forward pass, in eval mode")
    step.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the inputs")
    parser.add_argument(
        "--steps",
        type=int,
        default=1,
        metavar="N",
        help="steps of a TARGET; batches of each data loader of a SCRIPT",
    )
    parser.add_argument(
        "--mode", choices=("pynative", "graph", "both"), default="both", help="execution mode"
    )
    parser.add_argument(
        "--original",
        metavar="PATH",
        help="the PyTorch file or folder that was ported, to name its lines too",
    )
    where = parser.add_argument_group("where")
    where.add_argument("--soc", choices=_SOCS, default=_SOCS[1], help="the chip")
    where.add_argument(
        "--ranks",
        type=int,
        default=1,
        metavar="N",
        help="as the first of N data parallel processes, with their collective operators",
    )
    where.add_argument("--ms-python", default="", metavar="EXE", help="a Python with MindSpore")
    where.add_argument(
        "--timeout", type=float, default=600.0, metavar="S", help="seconds for each mode"
    )
    where.add_argument(
        "--memory-limit", type=float, default=16.0, metavar="GIB", help="host memory for each mode"
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print the result"
    )
    parser.add_argument(
        "--lines", action="store_true", help="also the kernels of every source line"
    )
    parser.add_argument("--report", metavar="FILE.html", help="also write one self-contained page")
    parser.add_argument("--keep", metavar="DIR", help="keep MindSpore's logs and graphs here")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def run(options: argparse.Namespace) -> int:
    """Dry-run, show, and return 0, 1 or 2."""
    from migrate.report import preflight_console, preflight_html, preflight_json
    from migrate.report.output import check_file

    check_file(options.report)
    report = examine(options, _teller(options.quiet))
    if options.format == "json":
        print(preflight_json.render(report))
    else:
        print(preflight_console.render(report, lines_too=options.lines), end="")
    if options.report:
        preflight_html.write(report, Path(options.report))
        _teller(options.quiet)(f"report written to {options.report}")
    return report.exit_code


def examine(options: argparse.Namespace, tell: Callable[[str], None]) -> Report:
    """Run every mode that was asked for."""
    from migrate.preflight import installation, process, stubs
    from migrate.preflight.originals import originals_of
    from migrate.preflight.result import Report

    if options.original and not Path(options.original).exists():
        raise RequestError("no such file or folder", where=options.original)
    job = _job(options)
    limits = process.Limits(options.timeout, options.memory_limit)
    found = installation.find(options.ms_python)
    found.check()
    tell("preparing the stub libraries")
    folder = stubs.prepare(found)
    modes = ("pynative", "graph") if options.mode == "both" else (options.mode,)
    report = Report(options.subject, found.version, options.soc, [])
    with _scratch(options.keep) as scratch:
        for mode in modes:
            tell(f"dry run in {mode} mode")
            report.runs.append(
                process.run_child(
                    {**job, "mode": mode},
                    found,
                    folder,
                    scratch / mode,
                    soc=options.soc,
                    limits=limits,
                    tell=tell,
                )
            )
    report.originals = originals_of(report, options.original)
    return report


@contextmanager
def _scratch(keep: str | None) -> Iterator[Path]:
    """A folder for what the children write: temporary, or one that the user wants to keep."""
    if not keep:
        with tempfile.TemporaryDirectory(prefix="ms-migrate-preflight-") as name:
            yield Path(name)
        return
    folder = Path(keep).resolve()
    if folder.exists():
        raise RequestError("exists already", where=keep, next_step="choose another folder")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise RequestError(f"cannot be made ({error.strerror})", where=keep) from error
    yield folder


def _job(options: argparse.Namespace) -> dict[str, Any]:
    """Read the whole request, refusing what is wrong before a child starts."""
    if options.steps < 1:
        raise RequestError(f"--steps {options.steps} takes no step")
    if options.timeout <= 0:
        raise RequestError(f"--timeout must be positive, not {options.timeout:g}")
    if options.memory_limit <= 0:
        raise RequestError(f"--memory-limit must be positive, not {options.memory_limit:g}")
    if options.ranks < 1:
        raise RequestError(f"--ranks {options.ranks} is not a number of processes")
    subject = str(options.subject)
    if ":" not in subject.replace(":\\", "") and subject.endswith(".py"):
        return _script_job(options)
    if Path(subject).is_dir():
        raise RequestError(
            "is a folder",
            where=subject,
            next_step="name a model in it (FILE.py:callable) or a program (FILE.py)",
        )
    if options.program_arguments:
        raise RequestError(
            "a TARGET takes no program arguments",
            next_step="write them into the target: file.py:callable(key=value)",
        )
    from migrate.parity.request import options as shared
    from migrate.parity.request import target

    # Options of `parity` that have no meaning here, at the values that switch them off.
    filled = argparse.Namespace(
        **{**vars(options), "init": "exact", "weights": "", "noise_runs": 0, "keep_random": True}
    )
    plan = shared.make_plan(filled)
    parsed = target.parse(subject)
    root = target.package_of(Path(parsed.where))[0] if parsed.is_file else Path.cwd()
    return {
        "kind": "target",
        "target": shared.check_target(subject),
        "plan": plan.to_json(),
        "loss_target": shared.check_target(options.ms_loss) if options.ms_loss else "",
        "optimizer_target": (
            shared.check_target(options.ms_optimizer) if options.ms_optimizer else ""
        ),
        "roots": [str(root)],
        "ranks": options.ranks,
    }


def _script_job(options: argparse.Namespace) -> dict[str, Any]:
    path = Path(options.subject).expanduser()
    if not path.is_file():
        raise RequestError("no such file", where=options.subject)
    given = [name for name in ("input", "target", "classes", "loss") if getattr(options, name)]
    if given:
        raise RequestError(
            f"--{given[0]} is for a TARGET; a program has its own data",
            next_step=f"name the model, {options.subject}:callable, or leave it out",
        )
    path = path.resolve()
    _check_ported(path, options.subject)
    return {
        "kind": "script",
        "script": str(path),
        "arguments": list(options.program_arguments),
        "steps": options.steps,
        "directory": os.getcwd(),
        "roots": [str(path.parent)],
        "ranks": options.ranks,
    }


def _check_ported(path: Path, shown: str) -> None:
    """torch's programs run in here as well: on the CPU, with all of their data, and for hours."""
    from migrate.project.files import discover

    named = {module.partition(".")[0] for module in _imported(discover([path]).imports, path)}
    if "torch" in named and not named & {"mindspore", "ms_migrate_helpers"}:
        raise RequestError(
            "this program imports torch, and no MindSpore",
            where=shown,
            next_step="port it first: ms-migrate port DIR -o OUT, then preflight OUT/FILE.py",
        )


def _imported(imports: ImportGraph, path: Path) -> set[str]:
    """The modules that a program and its own files name in import statements."""
    files = {str(path), *imports.below([str(path)])}
    return {module for file in files for dots, module in imports.nodes[file].scan.named if not dots}


def _teller(quiet: bool) -> Callable[[str], None]:
    def tell(line: str) -> None:
        if not quiet:
            print(line, file=sys.stderr)

    return tell
