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
from migrate.preflight.child import LOG
from migrate.preflight.child.line_markers import UserFiles
from migrate.preflight.environment import child_environment
from migrate.preflight.installation import Installation
from migrate.preflight.log_reader import Log, LogReader
from migrate.preflight.result import Finding, Problem, Run


@dataclass(frozen=True)
class Limits:
    """What a child may take."""

    seconds: float = 600.0
    memory_gib: float = 16.0


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
    environment = child_environment(installation, stubs, scratch, soc, job.get("ranks", 1))
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
    reason = ended or worker.death(child.process.returncode)
    run = _read(job, installation, scratch, f"{reason} (stage: {child.stage()})")
    run.seconds = child.seconds
    return run


def run_batch(
    jobs: list[dict[str, Any]],
    installation: Installation,
    stubs: Path,
    scratch: Path,
    *,
    soc: str,
    limits: Limits,
    tell: Callable[[str], None],
) -> list[Run]:
    """Many dry runs, one after the other, from one process that has MindSpore loaded; the limit of
    time is for each.
    """
    scratch.mkdir(parents=True)
    placed = [{**job, "folder": str(scratch / f"job_{number}")} for number, job in enumerate(jobs)]
    batch = {"action": "mindspore-preflight-batch", "jobs": placed, "seconds": limits.seconds}
    child = worker.start(
        "MindSpore",
        batch,
        scratch,
        python=installation.python,
        timeout=limits.seconds * (len(jobs) + 1),
        environment=child_environment(installation, stubs, scratch, soc),
    )
    _wait(child, limits, tell)
    _raise_request(scratch)
    died = "ended without a result, or took too long"
    return [_read(job, installation, Path(job["folder"]), died) for job in placed]


def _read(job: dict[str, Any], installation: Installation, folder: Path, died: str) -> Run:
    """Everything that a child left in its folder."""
    _raise_request(folder)
    log = read_log(folder / LOG)
    files = UserFiles(job["roots"], (str(installation.package.parent),))
    run = assemble(job["mode"], log, folder / "graphs", _ending(folder), files.has)
    if not (folder / "result.json").is_file():
        run.findings.insert(0, _died(died, log))
    return run


def read_log(path: Path) -> Log:
    reader = LogReader()
    if not path.is_file():
        return reader.log
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            reader.feed(line)
    return reader.log


def _wait(child: worker.Worker, limits: Limits, tell: Callable[[str], None]) -> str:
    """Wait for the end; returns why the child was stopped, if it was."""
    stage = ""
    worker.limit_memory(limits.memory_gib)
    try:
        while not child.poll():
            if child.stage() != stage:
                stage = child.stage()
                tell(f"  {stage}")
            time.sleep(0.02)
    except worker.WorkerError as error:
        return error.reason
    finally:
        child.stop()
        worker.limit_memory(None)
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


def _died(reason: str, log: Log) -> Finding:
    return Finding(
        Problem.UNDECIDED,
        "",
        f"the process {reason}; what follows was not checked",
        [log.last_place] if log.last_place is not None else [],
    )
