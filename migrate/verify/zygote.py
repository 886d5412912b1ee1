"""The process that has both frameworks imported and forks a fresh copy of itself for each case.

Importing them takes ten seconds, forking a tenth of one; but a process that has run a MindSpore
operator can neither be forked nor trusted with the next case. Requests come on stdin, answers go
to stdout, one line of JSON each.
"""

from __future__ import annotations

import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_WALL = 4.0  # a busy machine gives a process a part of its time; a hang uses none
_MOST_DEATHS = 3
_HANGS, _LONG, _KILLS = "hangs", "takes too long", "kills the process"
DEATHS = (_HANGS, _LONG, _KILLS)


@dataclass(slots=True)
class Child:
    """One running case."""

    key: str
    pid: int
    folder: Path
    limit: float
    begun: float
    cases: int = 1
    start: int = 0
    deaths: int = 0

    @property
    def notes(self) -> Path:
        return self.folder / "notes.jsonl"


def main() -> int:
    """Serve until stdin ends."""
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("GLOG_v", "4")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the frameworks print must not mix with the answers
    from migrate.verify import parts

    names = parts.all_cases()
    import mindspore

    _warm_up()
    _say(answers, {"cases": names, "versions": _versions(mindspore)})
    waiting: list[dict[str, Any]] = []
    running: list[Child] = []
    listening = True
    pending = b""
    parent = os.getppid()
    while listening or waiting or running:
        while waiting and len(running) < jobs:
            request = waiting.pop(0)
            folder = Path(tempfile.mkdtemp(prefix="verify-"))
            cases = request.get("cases", 1)
            running.append(_fork(Child(request["run"], 0, folder, request["limit"], 0.0, cases)))
        if listening and select.select([0], [], [], 0.02 if running else 0.5)[0]:
            data = os.read(0, 65536)
            listening = bool(data)
            *lines, pending = (pending + data).split(b"\n")
            waiting += [json.loads(line) for line in lines if line.strip()]
        elif running:
            time.sleep(0.02)
        if os.getppid() != parent:  # whoever asked is gone
            for child in running:
                os.kill(child.pid, signal.SIGKILL)
            return 1
        for child in list(running):
            if _over(child):
                running.remove(child)
                again = _after(child)
                if again is not None:
                    running.append(again)
                    continue
                _say(answers, {"done": child.key, "notes": _read(child.notes)})
                if not os.environ.get("MS_MIGRATE_VERIFY_KEEP"):
                    shutil.rmtree(child.folder, ignore_errors=True)
    return 0


def _warm_up() -> None:
    """Read the table, the helpers and the porter once, here, rather than in every child."""
    from migrate.verify.porting import port_text

    with tempfile.TemporaryDirectory() as folder:
        text = "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.logsumexp(x.abs(), 1)\n"
        port_text(text, Path(folder))


def _versions(mindspore: Any) -> dict[str, str]:
    import torch

    return {"torch": torch.__version__.partition("+")[0], "mindspore": mindspore.__version__}


def _fork(child: Child) -> Child:
    child.begun = time.monotonic()
    child.pid = os.fork()
    if child.pid:
        return child
    code = 1
    try:
        os.setpgid(0, 0)
        limit = int(child.limit * child.cases) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        os.chdir(child.folder)
        log = os.open("log.txt", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        from migrate.verify.session import Renew, noting, run_case

        note = noting(child.notes)
        try:
            run_case(child.key, child.folder, child.start, note)
            note({"finished": True, "seconds": round(time.process_time(), 2)})
            code = 0
        except Renew:
            code = 0
        except BaseException as error:
            import traceback

            traceback.print_exc()
            note({"broken": f"{type(error).__name__}: {error}"[:300]})
    finally:
        os._exit(code)  # MindSpore's own end may crash, after everything has been said


def _over(child: Child) -> bool:
    pid, status = os.waitpid(child.pid, os.WNOHANG)
    if pid:
        if os.WIFSIGNALED(status):
            _append(child, {"died": _signal(os.WTERMSIG(status))})
        return True
    if _silence(child) > child.limit * _WALL:
        os.kill(child.pid, signal.SIGKILL)
        os.waitpid(child.pid, 0)
        _append(child, {"died": _HANGS})
        return True
    return False


def _silence(child: Child) -> float:
    """Seconds since the child began, or since its last note."""
    since_start = time.monotonic() - child.begun
    try:
        return min(since_start, time.time() - child.notes.stat().st_mtime)
    except OSError:
        return since_start


def _signal(number: int) -> str:
    if number == signal.SIGXCPU:
        return _LONG
    return f"{_KILLS} ({signal.Signals(number).name})"


def _after(child: Child) -> Child | None:
    """A crash costs the trial in which it happened; the others still run, in a new process."""
    notes = _read(child.notes)
    if not notes or not {"died", "renew"} & notes[-1].keys():
        return None
    begun = [note["place"] for note in notes if note.get("begins")]
    total = next((note["trials"] for note in notes if "trials" in note), 0)
    deaths = child.deaths + ("died" in notes[-1])
    if not begun or begun[-1] + 1 >= total or deaths >= _MOST_DEATHS * child.cases:
        return None
    if "died" in notes[-1] and child.start == begun[-1] + 1:
        return None  # twice at the same sample, before it was noted
    again = replace(child, pid=0, begun=0.0, start=begun[-1] + 1, deaths=deaths)
    return _fork(again)


def _append(child: Child, record: dict[str, Any]) -> None:
    with child.notes.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(record) + "\n")


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    return [json.loads(line) for line in lines if line.endswith("}")]


def _say(stream: Any, record: dict[str, Any]) -> None:
    stream.write(json.dumps(record) + "\n")
    stream.flush()


if __name__ == "__main__":
    raise SystemExit(main())
