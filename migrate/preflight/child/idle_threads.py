"""Threads of the backend that poll a device which is not there.

In a dry run the call that waits for the device's reports returns at once, so the threads that wait
in it take as much of the processor as they get: more than the program itself.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

_TASKS = Path("/proc/self/task")
_PAUSE = 0.2  # seconds; the processor's time is counted in hundredths
_USER, _SYSTEM = 11, 12  # of the fields behind the name in /proc/PID/stat


def yield_to_the_program() -> None:
    """Let threads that work while nothing runs have the processor only when nobody wants it.

    Call it when no operator is under way.
    """
    before = _processor_times()
    time.sleep(_PAUSE)
    after = _processor_times()
    for thread, spent in after.items():
        if spent > before.get(thread, spent) and thread != os.getpid():
            _lower(thread)


def _processor_times() -> dict[int, int]:
    found = {}
    for path in _TASKS.iterdir():
        try:
            fields = (path / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        found[int(path.name)] = int(fields[_USER]) + int(fields[_SYSTEM])
    return found


def _lower(thread: int) -> None:
    try:
        os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
    except OSError:  # not allowed here: it stays as it is
        return
