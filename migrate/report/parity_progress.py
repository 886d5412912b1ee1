"""How far the sides of a check are, as one line with a bar and the time left."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from migrate.parity.workers.worker import Worker

# Stages in their order, with the share of the work that is done when they begin and when they end.
_SHARES = (
    ("starting", 0.0, 0.05),
    ("importing the model", 0.05, 0.3),
    ("drawing inputs", 0.3, 0.32),
    ("running the model once", 0.32, 0.36),
    ("writing the start", 0.36, 0.4),
    ("waiting for torch's weights", 0.3, 0.4),
    ("matching parameters", 0.4, 0.45),
    ("float64 step", 0.4, 0.5),
    ("float32 step", 0.4, 0.5),
    ("noise run", 0.5, 0.95),
    ("pynative step", 0.45, 0.95),
    ("graph step", 0.45, 0.95),
    ("writing the record", 0.95, 1.0),
)
_COUNT = re.compile(r"(\d+) of (\d+)")


def share(stage: str) -> float:
    """How much of a side's work is done when it is in a stage."""
    for name, low, high in _SHARES:
        if stage.startswith(name):
            count = _COUNT.search(stage)
            done = (int(count[1]) - 1) / max(int(count[2]), 1) if count else 0.0
            return low + done * (high - low)
    return 0.0


@contextmanager
def following(sides: Mapping[str, Worker]) -> Iterator[Callable[[Mapping[str, Worker]], None]]:
    """Give a function that shows the sides that still run; nothing where nobody would see it."""
    if not sys.stderr.isatty():
        yield lambda waiting: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    from migrate.report.style import make_console

    columns = (BarColumn(20), TimeElapsedColumn(), TimeLeft(), TextColumn("{task.description}"))
    with Progress(*columns, console=make_console(error=True), transient=True) as progress:
        task = progress.add_task("", total=float(len(sides)))

        def show(waiting: Mapping[str, Worker]) -> None:
            stages = {name: side.stage() for name, side in waiting.items()}
            done = len(sides) - len(stages) + sum(share(stage) for stage in stages.values())
            words = "; ".join(f"{name}: {stage}" for name, stage in stages.items())
            progress.update(task, completed=done, description=words)

        yield show
