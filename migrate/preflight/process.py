"""Start the child process of a dry run, watch its limits, and read its log."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from migrate.errors import RequestError
from migrate.parity.workers import worker
from migrate.preflight.assemble import assemble
from migrate.preflight.child.line_markers import UserFiles
from migrate.preflight.environment import child_environment
from migrate.preflight.installation import Installation
from migrate.preflight.log_reader import Log, LogReader
from migrate.preflight.result import Finding, Problem, Run


@dataclass(frozen=True)
class Limits:
    """What a child may take."""

    seconds: float = 600.0
    memory_bytes: int = 16 * 2**30


def run_child(
    job: dict[str, Any],
    installation: Installation,
    stubs: Path,
    scratch: Path,
    *,
    soc: str,
    limits: Limits,
    tell: Callable[[str], None],
) -> Run:
    """One dry run in one mode."""
    scratch.mkdir(parents=True)
    environment = child_environment(installation, stubs, scratch, soc)
    child = worker.start(
        "MindSpore",
        {**job, "action": "mindspore-preflight"},
        scratch,
        python=installation.python,
        timeout=limits.seconds,
        environment=environment,
    )
    ended = _wait(child, limits, tell)
    _raise_request(scratch)
    log = read_log(scratch / "stderr")
    files = UserFiles(job["roots"], (str(installation.package.parent),))
    run = assemble(job["mode"], log, scratch / "graphs", _ending(scratch), files.has)
    run.seconds = child.seconds
    if not (scratch / "result.json").is_file():
        run.findings.insert(0, _died(child, ended, log))
    return run


def read_log(path: Path) -> Log:
    reader = LogReader()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            reader.feed(line)
    return reader.log


def _wait(child: worker.Worker, limits: Limits, tell: Callable[[str], None]) -> str:
    """Wait for the end; returns why the child was stopped, if it was."""
    stage = ""
    try:
        while not child.poll():
            if child.stage() != stage:
                stage = child.stage()
                tell(f"  {stage}")
            if child.peak_bytes > limits.memory_bytes:
                return f"took more than {limits.memory_bytes / 2**30:.0f} GiB of memory (--memory)"
            time.sleep(0.02)
    except worker.WorkerError as error:
        return error.reason + " (--timeout)"
    finally:
        child.stop()
    return ""


def _raise_request(scratch: Path) -> None:
    """Pass on what our own code in the child refused."""
    path = scratch / "error.json"
    if not path.is_file():
        return
    word = json.loads(path.read_text(encoding="utf-8"))
    what = word["what"] if word["kind"] == "request" else f"the dry run failed: {word['what']}"
    raise RequestError(what, where=word["where"], next_step=word["next_step"])


def _ending(scratch: Path) -> dict[str, Any] | None:
    path = scratch / "result.json"
    if not path.is_file():
        return None
    ending: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return ending


def _died(child: worker.Worker, stopped: str, log: Log) -> Finding:
    reason = stopped or worker.death(child.process.returncode)
    return Finding(
        Problem.UNDECIDED,
        "",
        f"the process {reason} (stage: {child.stage()}); what follows was not checked",
        [log.last_place] if log.last_place is not None else [],
    )
