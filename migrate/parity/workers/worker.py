"""Run a job in a fresh interpreter, with a time limit, and say how it ended in words a person can
act on.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrate.errors import RequestError

_BOOTSTRAP = Path(__file__).with_name("bootstrap.py")
_TAIL = 12


@dataclass
class Worker:
    """One process with one job, in a folder of its own."""

    name: str
    folder: Path
    process: subprocess.Popen[bytes]
    started: float
    timeout: float
    peak_bytes: int = 0
    seconds: float = 0.0
    finished: bool = field(default=False)

    def stage(self) -> str:
        try:
            return (self.folder / "progress").read_text(encoding="utf-8") or "starting"
        except OSError:
            return "starting"

    def poll(self) -> bool:
        """True once the process has ended; a process over its time is ended here, and only that
        process.
        """
        if self.finished:
            return True
        self.peak_bytes = max(self.peak_bytes, _peak_bytes(self.process.pid))
        self.seconds = time.monotonic() - self.started
        if self.process.poll() is None:
            if self.seconds > self.timeout:
                self.stop()
                raise WorkerError(
                    self,
                    f"did not finish within {self.timeout:.0f} s",
                    "raise the limit with --timeout",
                )
            return False
        self.finished = True
        return True

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.finished = True

    def check(self) -> None:
        """Raise what went wrong, if anything did."""
        error = self.folder / "error.json"
        if error.is_file():
            raise WorkerError.from_word(self, json.loads(error.read_text(encoding="utf-8")))
        if not (self.folder / "done.json").is_file():
            raise WorkerError(self, _death(self.process.returncode), "")


class WorkerError(RequestError):
    """A worker that could not do its job; carries its last stage and the end of its stderr."""

    def __init__(
        self, worker: Worker, what: str, next_step: str, where: str = "", trace: str = ""
    ) -> None:
        self.worker = worker
        self.stage = worker.stage()
        self.reason = what
        self.trace = trace
        tail = "" if trace else _tail(worker.folder / "stderr")
        said = f"\n  its last words:\n{tail}" if tail else ""
        super().__init__(
            f"the {worker.name} side {what} (stage: {self.stage}){said}",
            where=where,
            next_step=next_step,
        )

    @classmethod
    def from_word(cls, worker: Worker, word: dict[str, str]) -> WorkerError:
        """What the worker itself wrote down before it ended."""
        what = word["what"] if word["kind"] == "memory" else f"failed: {word['what']}"
        error = cls(worker, what, word["next_step"], word["where"], word["trace"] or "-")
        if word["kind"] == "request":
            # Said for the user by our own code: nothing about workers and stages belongs to it.
            error.what = word["what"]
        return error


def start(
    name: str, job: dict[str, Any], folder: Path, *, python: str = "", timeout: float = 1800.0
) -> Worker:
    """Start a worker on a job."""
    executable = python or sys.executable
    folder.mkdir(parents=True, exist_ok=True)
    for left_over in ("done.json", "error.json", "progress"):
        (folder / left_over).unlink(missing_ok=True)
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    # The sides run beside each other: threads that spin for a core another one holds cost more
    # than they bring.
    threads = max(1, (os.cpu_count() or 1) // 2)
    quiet = {
        "PYTHONUNBUFFERED": "1",
        "GLOG_v": "3",
        "OMP_WAIT_POLICY": "PASSIVE",
        "OMP_NUM_THREADS": str(threads),
        # Where MindSpore leaves its graphs when one does not compile; else the user's directory.
        "MS_OM_PATH": str(folder.resolve()),
    }
    environment = {**quiet, **os.environ}
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        try:
            process = subprocess.Popen(
                [executable, str(_BOOTSTRAP), str(folder / "job.json")],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment,
            )
        except OSError as error:
            raise RequestError(
                f"cannot start this interpreter ({error.strerror})",
                where=executable,
                next_step="give the path of a Python with the framework installed",
            ) from error
    return Worker(name, folder, process, time.monotonic(), timeout)


def finish(workers: list[Worker]) -> None:
    """Wait for all; the first to fail stops the others, since they may be waiting for it."""
    try:
        waiting = list(workers)
        while waiting:
            for worker in list(waiting):
                if worker.poll():
                    waiting.remove(worker)
                    worker.check()
            time.sleep(0.02)
    finally:
        for worker in workers:
            worker.stop()


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        hint = "; the system may have run out of memory" if name == "SIGKILL" else ""
        return f"was ended by {name}{hint}"
    return f"ended without a result (exit code {code})"


def _tail(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(f"    {line}" for line in lines[-_TAIL:] if line.strip())


def _peak_bytes(pid: int) -> int:
    """Peak resident memory as Linux tells it; 0 where it is not told."""
    try:
        for line in (
            Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
        ):
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
