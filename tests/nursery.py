"""Workers forked from a process that has its framework imported already.

A sweep starts hundreds of workers; importing a framework costs seconds, a fork a tenth of one. A
process that has run no operator yet can be forked, and each job still has a process of its own.

python tests/nursery.py torch|mindspore       serve: one job file a line on stdin
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()


class Nursery:
    """Stands in for migrate.parity.workers.worker.start."""

    def __init__(self, threads: int = 1) -> None:
        self._servers: dict[str, subprocess.Popen[bytes]] = {}
        self._ended: dict[int, int] = {}
        self._threads = threads
        self._asking = threading.Lock()  # an answer belongs to whoever asked

    def start(
        self, name: str, job: dict[str, Any], folder: Path, *, python: str = "", timeout: float
    ) -> Any:
        from migrate.parity.workers.worker import Worker

        folder.mkdir(parents=True, exist_ok=True)
        for left_over in ("done.json", "error.json", "progress"):
            (folder / left_over).unlink(missing_ok=True)
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        with self._asking:
            server = self._server(job["action"].partition("-")[0])
            assert server.stdin is not None
            server.stdin.write(f"{folder.resolve() / 'job.json'}\n".encode())
            server.stdin.flush()
            pid = int(self._answer(server).split()[1])
        process: Any = Forked(pid, server, self)
        return Worker(name, folder, process, time.monotonic(), timeout)

    def close(self) -> None:
        for server in self._servers.values():
            server.kill()
            server.wait()

    def _server(self, framework: str) -> subprocess.Popen[bytes]:
        server = self._servers.get(framework)
        if server is None or server.poll() is not None:
            server = self._servers[framework] = subprocess.Popen(
                [sys.executable, str(HERE), framework],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,  # select must see every line that is not read yet
                env={**os.environ, "OMP_NUM_THREADS": str(self._threads), "GLOG_v": "4"},
            )
        return server

    def _answer(self, server: subprocess.Popen[bytes]) -> str:
        """The next 'born' line; deaths that come before it are noted."""
        assert server.stdout is not None
        while True:
            line = server.stdout.readline().decode()
            if not line:
                raise RuntimeError("the process that forks the workers has ended")
            if line.startswith("born"):
                return line
            self._note(line)

    def ended(self, pid: int, server: subprocess.Popen[bytes]) -> int | None:
        with self._asking:
            return self._deaths(pid, server)

    def _deaths(self, pid: int, server: subprocess.Popen[bytes]) -> int | None:
        assert server.stdout is not None
        while pid not in self._ended and select.select([server.stdout], [], [], 0)[0]:
            line = server.stdout.readline().decode()
            if not line:
                return 1
            self._note(line)
        return self._ended.get(pid)

    def _note(self, line: str) -> None:
        _, pid, code = line.split()
        self._ended[int(pid)] = int(code)


class Forked:
    """As much of a Popen as a Worker asks for."""

    def __init__(self, pid: int, server: subprocess.Popen[bytes], nursery: Nursery) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._server = server
        self._nursery = nursery

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._nursery.ended(self.pid, self._server)
        return self.returncode

    def kill(self) -> None:
        try:
            os.kill(self.pid, 9)
        except ProcessLookupError:
            self.returncode = self.returncode or -9

    def wait(self) -> None:
        while self.poll() is None:
            time.sleep(0.02)


# The forking process ------------------------------------------------------------------------------


def serve(framework: str) -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the framework prints must not mix with the answers
    from migrate.parity.workers import worker_main

    for action, module in worker_main.ACTIONS.items():
        if action.startswith(framework) and "weights" not in action and "data" not in action:
            __import__(module)
    children: set[int] = set()
    pending = b""
    while True:
        if select.select([0], [], [], 0.02)[0]:
            data = os.read(0, 65536)
            if not data:
                return
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                pid = os.fork()
                if pid == 0:
                    _work(line.decode())
                children.add(pid)
                print("born", pid, file=answers, flush=True)
        for pid in list(children):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                children.remove(pid)
                print("died", pid, os.waitstatus_to_exitcode(status), file=answers, flush=True)


def _work(job: str) -> None:
    from migrate.parity.workers.worker_main import main

    folder = Path(job).parent
    for number, name in ((1, "stdout"), (2, "stderr")):
        log = os.open(folder / name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(log, number)
    main(job)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent.parent))
    serve(sys.argv[1])
