"""A worker runs strangers' code: it ends with all that it started, and within its limits."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from migrate.parity.workers import family, record, worker
from migrate.report import parity_progress

CODE = """
import os, subprocess, sys, time
import numpy as np

def quick(image):
    return np.ones(2)

def hang(image):
    subprocess.Popen(["sleep", "600"])
    subprocess.Popen(["sleep", "600"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    time.sleep(600)

def leave_children(image):
    subprocess.Popen(["sleep", "600"], start_new_session=True)
    return np.ones(2)

def daemon():
    # Leaves parent, group and session, and takes no environment along.
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            note = os.path.join(os.path.dirname(os.path.abspath(__file__)), "daemon")
            with open(note + ".part", "w") as file:
                file.write(str(os.getpid()))
            os.rename(note + ".part", note)
            os.execve("/bin/sleep", ["sleep", "600"], {})
        os._exit(0)
    os.wait()

def daemon_and_return(image):
    daemon()
    return np.ones(2)

def daemon_and_hang(image):
    daemon()
    time.sleep(600)

def daemon_and_crash(image):
    daemon()
    os.abort()

def daemon_and_leave(image):
    daemon()
    os._exit(0)

def fork_on(image):
    for _ in range(3):
        os.fork()
    return np.full(2, os.getpid() % 7 + 1.0)

def flood(image):
    for _ in range(400):
        os.write(1, b"x" * 1_000_000)
        os.write(2, b"y" * 100_000 + b"\\n")
        time.sleep(0.001)
    time.sleep(600)

class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no message")

def unspeakable(image):
    raise Unspeakable

class Interrupting(Exception):
    def __str__(self):
        raise KeyboardInterrupt

def interrupting(image):
    raise Interrupting

def long_message(image):
    raise ValueError("x" * 5_000_000)

def bad_word(image):
    folder = os.path.dirname(sys.argv[1])
    with open(os.path.join(folder, "error.json"), "w") as file:
        file.write('{"kind": 1}')
    os._exit(1)

def waiting_words(image):
    folder = os.path.dirname(sys.argv[1])
    for name in ("error.json", "progress"):
        if os.path.exists(os.path.join(folder, name)):
            os.unlink(os.path.join(folder, name))
        os.symlink("/dev/zero", os.path.join(folder, name))
    os._exit(1)

def eat(image):
    held = []
    while True:
        held.append(bytearray(os.urandom(1_000_000)))
        time.sleep(0.001)
"""


@pytest.fixture
def start(tmp_path: Path):
    """Give `start(function, timeout)`: a worker that runs one of the functions above."""
    (tmp_path / "code.py").write_text(CODE)
    started = []

    def run(function: str, timeout: float = 30.0) -> worker.Worker:
        job = {
            "action": "mindspore-data",
            "target": f"{tmp_path / 'code.py'}:{function}",
            "images": ["x"],
            "step": str(tmp_path / "step"),
        }
        begun = worker.start("test", job, tmp_path / "work", timeout=timeout)
        started.append(begun)
        return begun

    yield run
    for begun in started:
        assert list(family.members(begun.token)) == []
        begun.stop()


def failure(begun: worker.Worker) -> str:
    with pytest.raises(worker.WorkerError) as caught:
        worker.finish([begun])
    return str(caught.value)


def test_children_do_not_survive_the_time_limit(start) -> None:
    begun = start("hang", timeout=3.0)
    end = time.monotonic() + 2.5
    while len(list(family.members(begun.token))) < 5 and time.monotonic() < end:
        assert not begun.poll()
        time.sleep(0.05)
    assert "did not finish within 3 s" in failure(begun)


def test_children_do_not_survive_the_end_of_the_job(start, tmp_path: Path) -> None:
    worker.finish([start("leave_children")])
    assert record.read_info(tmp_path / "step", "run")["mode"] == "data"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("return", ""),
        ("hang", "did not finish within 3 s"),
        ("crash", "was ended by SIGABRT"),
        ("leave", "ended without a result (exit code 0)"),
    ],
)
def test_daemons_without_a_trace_end_with_the_job(start, tmp_path: Path, how, said) -> None:
    begun = start(f"daemon_and_{how}", timeout=3.0 if how == "hang" else 30.0)
    if said:
        assert said in failure(begun)
    else:
        worker.finish([begun])
    _gone(int((tmp_path / "daemon").read_text()))


def _gone(pid: int) -> None:
    end = time.monotonic() + 10
    while not family._is_zombie(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert family._is_zombie(pid)  # or not there at all


def test_forks_that_run_on_write_no_second_record(start, tmp_path: Path) -> None:
    begun = start("fork_on")
    worker.finish([begun])
    (value,) = {float(v) for v in record.Tensors(tmp_path / "step/run.safetensors")["0"]}
    assert value == begun.job_pid % 7 + 1.0
    assert {path.name for path in (tmp_path / "step").iterdir()} == {
        "run.json",
        "run.safetensors",
    }


def test_a_flood_of_output_is_cut(start, tmp_path: Path) -> None:
    begun = start("flood", timeout=4.0)
    largest = 0
    text = ""
    try:
        while not begun.poll():
            sizes = [(tmp_path / "work" / name).stat().st_size for name in ("stdout", "stderr")]
            largest = max(largest, *sizes)
            time.sleep(0.02)
    except worker.WorkerError as error:
        text = str(error)
    assert largest < 150_000_000 and 0 < len(text) < 20_000


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("unspeakable", "failed: Unspeakable: <its message could not be read>"),
        ("long_message", "failed: ValueError: xxxx"),
        ("bad_word", "its error message is not readable"),
        ("interrupting", "failed: Interrupting: <its message could not be read>"),
        ("waiting_words", "(exit code 1)"),
    ],
)
def test_odd_errors(start, function: str, said: str) -> None:
    text = failure(start(function))
    assert said in text and len(text) < 20_000


def test_memory_is_limited(start) -> None:
    worker.limit_memory(0.3)
    try:
        assert "more than the 0.3 GiB" in failure(start("eat"))
    finally:
        worker.limit_memory(None)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_command(tmp_path: Path, number: signal.Signals) -> None:
    """SIGTERM takes everything along; SIGKILL leaves no time, and the supervisor does it."""
    (tmp_path / "code.py").write_text(CODE)
    command = """
        import sys, tempfile
        from pathlib import Path
        from migrate import last_barrier
        from migrate.parity.workers import worker
        top = Path(sys.argv[1])
        with last_barrier.ending_on_signals(), tempfile.TemporaryDirectory(dir=top) as folder:
            job = {"action": "mindspore-data", "target": f"{top / 'code.py'}:hang",
                   "images": ["x"], "step": str(top / "step")}
            begun = worker.start("test", job, Path(folder))
            (top / "token").write_text(begun.token)
            worker.finish([begun])
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(command), str(tmp_path)], stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + 20
    token, alive = "", 0
    while alive < 5 and time.monotonic() < end:
        time.sleep(0.1)
        if (tmp_path / "token").exists() and (words := (tmp_path / "token").read_text().split()):
            token = words[0]
            alive = len(list(family.members(token)))
    assert alive >= 5
    process.send_signal(number)
    process.wait(timeout=20)
    end = time.monotonic() + 5
    while list(family.members(token)) and time.monotonic() < end:
        time.sleep(0.05)
    assert list(family.members(token)) == []
    if number == signal.SIGTERM:
        assert {path.name for path in tmp_path.iterdir()} <= {"code.py", "token", "__pycache__"}


def test_the_share_that_is_done_grows_from_stage_to_stage() -> None:
    torch = ["starting", "importing the model", "drawing inputs", "writing the start"]
    torch += ["float64 step", "noise run 1 of 6", "noise run 6 of 6", "writing the record"]
    shares = [parity_progress.share(stage) for stage in torch]
    assert shares == sorted(set(shares)) and shares[-1] < 1
    assert parity_progress.share("a stage of its own") == 0
