"""Many dry runs from one process: MindSpore is loaded once, and each run is a fork of that.

Loading takes seconds and a fork a tenth of one. Only a process in which no operator has run can be
forked, so the device is set up in the fork.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from migrate.parity.workers import record
from migrate.parity.workers.worker_main import Progress, leave_word


def run(job: dict[str, Any], progress: Progress) -> None:
    """Run the jobs one after the other, each in a folder of its own."""
    import mindspore  # noqa: F401 (loaded here, for all forks)

    for number, item in enumerate(job["jobs"], 1):
        progress.enter(f"{number} of {len(job['jobs'])}: {item.get('target', item['kind'])}")
        _wait(_fork(item), job["seconds"])


def _fork(item: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        folder = Path(item["folder"])
        folder.mkdir(parents=True, exist_ok=True)
        log = os.open(folder / "stderr", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ["MS_DEV_SAVE_GRAPHS_PATH"] = str(folder / "graphs")
        os.environ["MS_OM_PATH"] = str(folder)
        from migrate.preflight import child

        record.owned_by_this_process()
        own = Progress(folder / "progress")
        own.enter("starting")
        try:
            child.run(item, own)
            code = 0
        except BaseException as error:
            what = f"{type(error).__name__}: {error}"
            leave_word(folder, "exception", own.stage, what, "", "", "")
    finally:
        os._exit(code)


def _wait(pid: int, seconds: float) -> None:
    """Until the fork ends or its time is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
