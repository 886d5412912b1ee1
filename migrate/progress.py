"""Progress with counts and the time left, on standard error, where someone is there to see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
# Less than this is done before a bar could be read.
LONG = 20


@contextmanager
def counted(what: str, total: int, quiet: bool = False) -> Iterator[Callable[[int], None] | None]:
    """Give a function to be told how many are done; None where nobody would see it."""
    if quiet or total < LONG or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from migrate.report.style import make_console

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(
        *columns, TimeRemainingColumn(), console=make_console(error=True), transient=True
    ) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.update(task, completed=min(done, total))


def tracked(items: Iterable[Item], what: str, total: int, quiet: bool = False) -> Iterator[Item]:
    """The items as they come, counted."""
    with counted(what, total, quiet) as done:
        for number, item in enumerate(items, 1):
            yield item
            if done is not None:
                done(number)
