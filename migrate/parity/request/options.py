"""The options that parity and capture share, and what they mean together."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from migrate.errors import RequestError
from migrate.files.plain import read_plain
from migrate.parity.request import inputs, loading, losses, optimizers, target
from migrate.parity.request.limits import FACTOR, Tolerance
from migrate.parity.request.loading import Loading
from migrate.parity.request.plan import Plan
from migrate.parity.request.target_names import check_name


def add_step_options(parser: argparse.ArgumentParser) -> None:
    """What the step is."""
    step = parser.add_argument_group("the step")
    step.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="SPEC",
        help=(
            "an input: 8,3,64,64 | 8,16:int64:0:1000 | mask=8,16:bool | batch.npz (repeat for "
            "several)"
        ),
    )
    step.add_argument("--target", metavar="SPEC", help="the loss's target, written like an input")
    step.add_argument(
        "--classes", type=int, metavar="N", help="draw targets below N and use cross entropy"
    )
    step.add_argument(
        "--loss", metavar="SPEC", help=f"one of {', '.join(losses.KNOWN)}, with :key=value options"
    )
    step.add_argument(
        "--optimizer",
        default="sgd:lr=0.01",
        metavar="SPEC",
        help="sgd, momentum, nesterov, adam, adamw, ...",
    )
    step.add_argument(
        "--steps",
        type=int,
        default=1,
        metavar="N",
        help="steps to take; more than one compares the loss curve",
    )
    step.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of inputs, targets and weights"
    )
    step.add_argument(
        "--eval", action="store_true", help="evaluate instead of train (BatchNorm, Dropout)"
    )
    step.add_argument(
        "--weights", default="", metavar="FILE", help="start from this torch checkpoint"
    )
    step.add_argument(
        "--init",
        choices=("perturb", "exact"),
        default="perturb",
        help=(
            "perturb: move constant parameters (zeros, ones) off their value, so that nothing "
            "hides behind them"
        ),
    )
    step.add_argument(
        "--amp", choices=("O0", "O1", "O2", "O3"), default="O0", help="mixed precision level"
    )
    step.add_argument(
        "--keep-random", action="store_true", help="leave dropout as the models configure it"
    )
    step.add_argument(
        "--noise-runs",
        type=int,
        default=6,
        metavar="N",
        help="float32 runs that make the noise floor",
    )


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """Where it runs."""
    machine = parser.add_argument_group("where")
    machine.add_argument(
        "--device", choices=("CPU", "GPU", "Ascend"), default="CPU", help="MindSpore's device"
    )
    machine.add_argument(
        "--timeout", type=float, default=1800.0, metavar="S", help="seconds a worker may take"
    )
    machine.add_argument(
        "--memory-limit",
        type=float,
        metavar="GIB",
        help="memory that the processes of a worker may use (default: 9/10 of the machine)",
    )
    machine.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def add_tolerance_options(parser: argparse.ArgumentParser) -> None:
    """How it is judged."""
    judged = parser.add_argument_group("how it is judged")
    judged.add_argument(
        "--factor",
        type=float,
        default=FACTOR,
        metavar="K",
        help="allowed multiple of the noise floor",
    )
    judged.add_argument(
        "--rtol",
        type=float,
        metavar="R",
        help="fixed relative tolerance instead of the noise floor",
    )
    judged.add_argument(
        "--atol",
        type=float,
        metavar="A",
        help="fixed absolute tolerance instead of the noise floor",
    )


def make_plan(options: argparse.Namespace) -> Plan:
    """Read the step from the options, refusing what contradicts itself."""
    if not options.input:
        raise RequestError(
            "nothing to feed the model",
            next_step="give at least one --input, for example --input 8,3,64,64",
        )
    if options.steps < 1:
        raise RequestError(f"--steps {options.steps} takes no step")
    if options.noise_runs < 0:
        raise RequestError(f"--noise-runs {options.noise_runs} is negative")
    if options.classes is not None and options.classes < 1:
        raise RequestError(f"--classes {options.classes} leaves no class to draw")
    loss = options.loss or ("cross_entropy" if options.classes else "project")
    losses.parse(loss)
    optimizers.parse(options.optimizer)
    weights = ""
    if options.weights:
        path = Path(options.weights).expanduser()
        if not path.is_file():
            raise RequestError("no such checkpoint", where=options.weights)
        weights = str(path.resolve())
    fixed = getattr(options, "rtol", None) is not None or getattr(options, "atol", None) is not None
    return Plan(
        inputs=[inputs.parse(text) for text in options.input],
        target=inputs.parse(options.target) if options.target else None,
        classes=options.classes,
        loss=loss,
        optimizer=options.optimizer,
        steps=options.steps,
        seed=options.seed,
        train=not options.eval,
        amp=options.amp,
        init=options.init,
        weights=weights,
        noise_runs=0 if fixed else options.noise_runs,
        keep_random=options.keep_random,
    )


def add_loading_options(
    parser: argparse.ArgumentParser, sides: tuple[tuple[str, str], ...]
) -> None:
    """How models are found and built; a folder to import from for each side."""
    group = parser.add_argument_group("how models are found and built")
    for option, name in sides:
        group.add_argument(
            option,
            action="append",
            default=[],
            metavar="DIR",
            help=f"import {name} from here first (repeat for several)",
        )
    group.add_argument(
        "--config",
        default="",
        metavar="SPEC",
        help=(
            "a config for the model: a .json, .toml or .yaml file, or key=value,key.key=value; "
            "passed as the first argument, or as `config` in the target's call"
        ),
    )
    group.add_argument(
        "--definitions-only",
        action="store_true",
        help="run imports, classes, functions and constants of the target's file, nothing else",
    )


def make_loading(options: argparse.Namespace, paths: list[str]) -> Loading:
    """What a worker needs to load its side."""
    config = loading.read_config(options.config)
    return Loading(loading.check_paths(paths), config, options.definitions_only)


def make_tolerance(options: argparse.Namespace, amp: str) -> Tolerance:
    return Tolerance(options.factor, options.rtol, options.atol, amp)


def check_target(text: str) -> str:
    """Refuse a target that cannot be right before any worker is started; files become absolute."""
    found = target.parse(text)
    if found.is_file:
        check_name(Path(found.where), found.name)
    return f"{found.where}:{found.name}{found.call}"


def read_renames(path: str | None) -> dict[str, str]:
    """Read a map of names: lines of `torch = mindspore`, or a JSON object."""
    if not path:
        return {}
    try:
        text = read_plain(Path(path), 50_000_000).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"cannot read this map ({error})", where=path) from error
    if text.lstrip().startswith("{"):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RequestError(f"is not JSON ({error})", where=path) from error
        if not all(isinstance(value, str) for value in data.values()):
            raise RequestError("must map names to names", where=path)
        return dict(data)
    renames = {}
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.partition("#")[0].strip()
        if not bare:
            continue
        left, equals, right = (part.strip() for part in bare.partition("="))
        if not equals or not left or not right:
            raise RequestError("expected: torch name = mindspore name", where=f"{path}:{number}")
        renames[left] = right
    return renames
