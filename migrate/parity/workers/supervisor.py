"""The process between a command and its worker: whatever the worker starts ends with it.

A process that forks twice, opens a session of its own and clears its environment cannot be told by
group or token. On Linux it comes back to the nearest ancestor that asked for orphans: this one,
which waits until the job is done, ends what is left below itself, and then ends as the job did.
"""

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

from migrate.parity.workers import family

_PDEATHSIG, _SUBREAPER = 1, 36  # of prctl


def run_below() -> None:
    """Fork: the job goes on in the child, and the parent never returns from here."""
    if not sys.platform.startswith("linux"):
        return
    parent = os.environ.get("MS_MIGRATE_PARENT", "")
    # The command may be killed: then this process is told, and ends the rest.
    signal.signal(signal.SIGTERM, _ended)
    if not _prctl(_SUBREAPER, 1) or not _prctl(_PDEATHSIG, signal.SIGTERM):
        return
    if parent.isdigit() and os.getppid() != int(parent):  # it ended before it was asked
        os._exit(1)
    here = os.getpid()
    job = os.fork()
    if job == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _prctl(_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != here:
            os._exit(1)
        return
    _end_as(_wait_for(job))


def _prctl(option: int, value: int) -> bool:
    try:
        return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0)) == 0
    except (OSError, AttributeError):
        return False


def _ended(number: int, frame: Any) -> None:
    family.end_descendants(os.getpid())
    os._exit(1)


def _wait_for(job: int) -> int:
    """The job's exit status; orphans that end before are let go."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == job:
            return status


def _end_as(status: int) -> None:
    family.end_descendants(os.getpid())
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)
