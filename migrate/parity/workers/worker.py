"""Run a job in a fresh interpreter, with a time limit, and say how it ended in words a person can
act on.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrate import onednn
from migrate.errors import RequestError
from migrate.files.plain import read_json, read_plain
from migrate.parity.workers import family

_BOOTSTRAP = Path(__file__).with_name("bootstrap.py")
PARENT = "MS_MIGRATE_PARENT"  # the environment variable that names the process a worker serves
_LONGEST_WORD = 5_000_000  # bytes of what a worker writes down; it runs user code
_TAIL = 12  # lines
_LONGEST_LINE = 500
_KEPT_BYTES = 64_000
_MOST_BYTES = 16_000_000


@dataclass
class Worker:
    """One process with one job, in a folder of its own."""

    name: str
    folder: Path
    process: subprocess.Popen[bytes]
    started: float
    timeout: float
    token: str = ""
    peak_bytes: int = 0
    seconds: float = 0.0
    finished: bool = field(default=False)
    _weighed: float = 0.0
    _job: int = 0

    def stage(self) -> str:
        try:
            text = read_plain(self.folder / "progress", _LONGEST_WORD).decode(errors="replace")
            return text[:200] or "starting"
        except OSError:
            return "starting"

    @property
    def job_pid(self) -> int:
        """The process that does the job: the first one below the supervisor, where there is one."""
        if not self._job:
            self._job = family.first_child(self.process.pid)
        return self._job or self.process.pid

    def poll(self) -> bool:
        """True once the process has ended; one over its limits is ended here, with all that it
        started.
        """
        if self.finished:
            return True
        self.peak_bytes = max(self.peak_bytes, family.resident_bytes(self.job_pid, "VmHWM:"))
        self.seconds = time.monotonic() - self.started
        if self.process.poll() is None:
            if self.seconds > self.timeout:
                self.stop()
                raise WorkerError(
                    self,
                    f"did not finish within {self.timeout:.0f} s",
                    "raise the limit with --timeout",
                )
            self._check_memory()
            for name in ("stdout", "stderr"):
                _shorten(self.folder / name)
            return False
        self.finished = True
        return True

    def _check_memory(self) -> None:
        """The whole family counts, and is weighed every second."""
        used = family.resident_bytes(self.job_pid)
        if self.seconds - self._weighed > 1.0:
            self._weighed = self.seconds
            everyone = {*family.members(self.token), *family.descendants(self.process.pid)}
            used = sum(map(family.resident_bytes, everyone))
        if used > (limit := memory_limit()):
            self.stop()
            raise WorkerError(
                self,
                f"used {used / 2**30:.1f} GiB of memory, more than the {limit / 2**30:.1f} GiB"
                " allowed",
                "take a smaller input, or raise the limit with --memory-limit",
            )

    def stop(self) -> None:
        """End the process and everything that it has started, which may outlive it."""
        reaped = self.process.poll() is not None
        family.end_family(self.process.pid, self.token, reaped=reaped)
        self.process.wait()
        self.finished = True

    def check(self) -> None:
        """Raise what went wrong, if anything did."""
        error = self.folder / "error.json"
        if error.is_file():
            raise WorkerError.from_word(self, _word(error))
        if not (self.folder / "done.json").is_file():
            raise WorkerError(self, death(self.process.returncode), "")


_memory_limit: list[float] = []  # GiB


def limit_memory(gib: float | None) -> None:
    """What the processes of one worker may use together; None for nine tenths of the machine."""
    _memory_limit[:] = [] if gib is None else [gib]


def memory_limit() -> float:
    """The limit in bytes."""
    return _memory_limit[0] * 2**30 if _memory_limit else 0.9 * family.physical_bytes()


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


def _runs_on_cpu(job: dict[str, Any]) -> bool:
    """MindSpore's side of a check, on this machine's processor."""
    return str(job.get("action", "")).startswith("mindspore") and job.get("device") == "CPU"


def start(
    name: str,
    job: dict[str, Any],
    folder: Path,
    *,
    python: str = "",
    timeout: float = 1800.0,
    environment: Mapping[str, str] | None = None,
) -> Worker:
    """Start a worker on a job; without an environment it sees this process's own."""
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
    if str(job.get("action", "")).startswith("torch"):
        # Scripted modules run as the Python they are written in: hooks see their layers, and they
        # can be run in float64.
        quiet["PYTORCH_JIT"] = "0"
    token = secrets.token_hex(16)
    fast = onednn.settings(os.environ, executable) if _runs_on_cpu(job) else {}
    known = {**quiet, **fast, **os.environ} if environment is None else environment
    variables = {**known, family.TOKEN: token, PARENT: str(os.getpid())}
    for left_over in ("stdout", "stderr"):
        (folder / left_over).unlink(missing_ok=True)
    # Appended to, so that what is cut off in front is not written again as zeros.
    with open(folder / "stdout", "ab") as out, open(folder / "stderr", "ab") as err:
        try:
            process = subprocess.Popen(
                [executable, str(_BOOTSTRAP), str(folder / "job.json")],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=variables,
                start_new_session=True,
            )
        except OSError as error:
            raise RequestError(
                f"cannot start this interpreter ({error.strerror})",
                where=executable,
                next_step="give the path of a Python with the framework installed",
            ) from error
    return Worker(name, folder, process, time.monotonic(), timeout, token)


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


def _word(path: Path) -> dict[str, str]:
    """What a worker wrote down at its end; user code runs there, so it may be anything."""
    fields = ("kind", "what", "where", "next_step", "trace")
    try:
        found = read_json(path, _LONGEST_WORD)
        word = {name: found[name] for name in fields}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        word = {}
    if not word or not all(isinstance(value, str) for value in word.values()):
        return dict.fromkeys(fields, "") | {
            "kind": "exception",
            "what": "its error message is not readable",
        }
    return word


def death(code: int | None) -> str:
    """How a process without a last word ended."""
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = "; the system may have run out of memory" if name == "SIGKILL" else ""
        return f"was ended by {name}{hint}"
    return f"ended without a result (exit code {code})"


def _tail(path: Path) -> str:
    try:
        text = _end_of(path).decode("utf-8", errors="replace")
    except OSError:
        return ""
    lines = [line[:_LONGEST_LINE] for line in text.splitlines() if line.strip()]
    return "\n".join(f"    {line}" for line in lines[-_TAIL:])


def _end_of(path: Path) -> bytes:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _KEPT_BYTES))
        return file.read()


def _shorten(path: Path) -> None:
    """A flood of output must not fill the disk: only its end is of use."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            end = _end_of(path)
            os.truncate(path, 0)
            with path.open("ab") as file:
                file.write(end)
    except OSError:
        return
