"""Every program of tests/training/flagship in one process and two, with and without mixed
precision, in both modes, saved, resumed and evaluated: `make flagship`.

python -m tests.training.flagship_matrix [NAME...] [--missing] [--write]

Each row is written when it is done: a run that was stopped goes on with --missing.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.training import flagship_programs as programs
from tests.training.flagship_programs import EPOCHS, Program

PAGE = programs.CHECKOUT / "docs" / "results" / "flagship.md"
DATA = PAGE.with_suffix(".json")
# Losses relative, accuracies in images. float16 has three digits, and steps add their errors up.
BOUNDS = {False: {"loss": 1e-4, "acc1": 0.5}, True: {"loss": 5e-2, "acc1": 4.5}}

COLUMNS = ["program", "processes", "precision", "mode"]
COLUMNS += ["loss", "images", "resumed", "evaluated", "seconds"]
INTRODUCTION = """\
# Training programs, in one process and in two

Written by `make flagship`. Five programs of `tests/training/flagship` are analysed, ported and
run by their own command lines. The ported program goes on from torch's checkpoint of the first
epoch, converted by `ms-migrate weights --whole`; compared are the losses of all later steps
(largest relative difference) and the evaluations (in images). *resumed*: the last epoch again from
the checkpoint that the ported program saved. *evaluated*: its last checkpoint evaluated in a run
of its own. CPU; msrun beside torchrun or mp.spawn with gloo.

"""


@dataclass
class Case:
    """One program in one setting, and how far it was from torch."""

    program: str
    two: bool
    amp: bool
    mode: str
    loss: float = 0.0
    images: float = 0.0
    resumed: float | None = None  # the last epoch again, from the ported program's own checkpoint
    evaluated: float | None = None  # its last checkpoint evaluated alone
    seconds: float = 0.0
    problem: str = ""


def run_case(program: Program, folder: Path, case: Case, resume: bool) -> None:
    """Fill the case in; torch's run of the same setting is made once."""
    setting = f"{'two' if case.two else 'one'}_{'amp' if case.amp else 'full'}"
    place = folder / program.name / setting
    theirs, start = place / "torch", place / "start.ckpt"
    if not start.exists():
        programs.run_torch(program, folder, theirs, case.amp, case.two)
        first = theirs / program.checkpoint(1)
        programs.migrate(folder, "weights", first, start, "--whole")
    begun = time.monotonic()
    options = {"mode": case.mode, "amp": case.amp, "two": case.two}
    out = place / case.mode
    programs.run_ported(program, folder, out, start, **options)
    worst = programs.apart(programs.log(out), programs.log(theirs))
    case.seconds = round(time.monotonic() - begun, 1)
    case.loss, case.images = worst["loss"], worst["acc1"]
    losses = {name: worst[name] for name in ("loss", "val_loss") if name in worst}
    bounds = BOUNDS[case.amp]
    assert max(losses.values()) < bounds["loss"] * (10 if "val_loss" in losses else 1), worst
    assert case.loss < bounds["loss"] and case.images < bounds["acc1"], worst
    assert worst["lr"] < 1e-6 and worst.get("count", 0.0) == 0.0, worst
    if resume:
        again = place / f"{case.mode}_resumed"
        programs.run_ported(program, folder, again, out / program.checkpoint(EPOCHS - 1), **options)
        last = [record for record in programs.log(out) if record["epoch"] == EPOCHS - 1]
        apart = programs.apart(programs.log(again), last)
        case.resumed = apart["loss"]
        assert case.resumed < (5e-3 if case.amp else 1e-5), apart
        # In two processes the second evaluates with running statistics of its own, in torch too.
        if program.evaluate and not case.two:
            case.evaluated = _evaluated(program, folder, case, out, place)


def _evaluated(program: Program, folder: Path, case: Case, out: Path, place: Path) -> float:
    """The last checkpoint evaluated alone: how far from the evaluation in the training."""
    alone = place / f"{case.mode}_evaluated"
    last = out / program.checkpoint(EPOCHS)
    options = {"mode": case.mode, "two": case.two, "evaluate": True}
    programs.run_ported(program, folder, alone, last, **options)
    (found,) = [record for record in programs.log(alone) if "acc1" in record]
    expected = [record for record in programs.log(out) if "acc1" in record][-1]
    difference = abs(found["val_loss"] - expected["val_loss"]) / expected["val_loss"]
    assert found["acc1"] == expected["acc1"] and difference < 1e-5, (found, expected)
    return difference


def cases(names: list[str]) -> list[tuple[Program, Case, bool]]:
    """(program, case, whether it is resumed and evaluated too)"""
    found = []
    for name in names:
        program = programs.ALL[name]
        modes = ["pynative", "graph"] if program.graph else ["pynative"]
        for two in (False, True):
            for amp in (False, True):
                for mode in modes:
                    both = two == amp and mode == modes[-1]
                    found.append((program, Case(name, two, amp, mode), both))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*programs.ALL, []], metavar="NAME")
    parser.add_argument("--setting", default="", help="of these alone: '2 mixed graph'")
    parser.add_argument("--missing", action="store_true", help="what the page lacks alone")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    names = options.names or list(programs.ALL)
    agreed = {tuple(_head(case)) for case in known() if not case.problem}
    planned = [
        (program, case, resume)
        for program, case, resume in cases(names)
        if options.setting in " ".join(_head(case))
        and not (options.missing and tuple(_head(case)) in agreed)
    ]
    failed = False
    with tempfile.TemporaryDirectory(prefix="flagship-") as home:
        folder = Path(home)
        programs.write_data(folder)
        for name in dict.fromkeys(case.program for _, case, _ in planned):
            programs.migrate(folder, "analyze", programs.ALL[name].source, codes=(0, 1))
            print(f"{name}: {programs.port(programs.ALL[name], folder)}", flush=True)
        for program, case, resume in planned:
            try:
                run_case(program, folder, case, resume)
            except AssertionError as error:
                case.problem = str(error)[-3000:]
            print(_line(case), case.problem, flush=True)
            failed = failed or bool(case.problem)
            if options.write:
                write(case)
    raise SystemExit(failed)


def known() -> list[Case]:
    """The rows of earlier runs."""
    return [Case(**old) for old in json.loads(DATA.read_text())] if DATA.exists() else []


def write(done: Case) -> None:
    """Renew what was run, keep the rest."""
    every = {tuple(_head(case)): case for case in [*known(), done]}
    every = sorted(every.values(), key=lambda c: (_place(c.program), c.two, c.amp, c.mode))
    DATA.write_text(json.dumps([asdict(case) for case in every], indent=1) + "\n")
    passed = sum(not case.problem for case in every)
    run = {tuple(_head(case)) for case in every}
    missing = [
        _head(case) for _, case, _ in cases(list(programs.ALL)) if tuple(_head(case)) not in run
    ]
    lines = [
        *INTRODUCTION.splitlines(),
        f"{passed} of {len(every)} agree; {len(missing)} settings were not run.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
        *map(_line, every),
        *(f"| {' | '.join([*head, 'not run', '', '', '', ''])} |" for head in missing),
        "",
        *(f"- {' '.join(_head(case))}: {case.problem}" for case in every if case.problem),
        "",
    ]
    PAGE.write_text("\n".join(lines))


def _place(name: str) -> int:
    return list(programs.ALL).index(name)


def _head(case: Case) -> list[str]:
    precision = "mixed" if case.amp else "float32"
    return [case.program, "2" if case.two else "1", precision, case.mode]


def _line(case: Case) -> str:
    if case.problem:
        numbers = ["**differs**", "", "", ""]
    else:
        rest = ["" if v is None else f"{v:.0e}" for v in (case.resumed, case.evaluated)]
        numbers = [f"{case.loss:.0e}", f"{case.images:.0f}", *rest]
    return "| " + " | ".join([*_head(case), *numbers, f"{case.seconds:.0f}"]) + " |"


if __name__ == "__main__":
    main()
