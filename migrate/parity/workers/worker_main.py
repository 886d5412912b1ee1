"""What a worker does with its job: run it, report progress, and leave word of how it ended."""

from __future__ import annotations

import json
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from migrate.errors import RequestError, describe
from migrate.files.atomic import write_bytes
from migrate.parity.request import loading
from migrate.parity.workers import advice, record, user_code

# action -> module with run(job, progress) in it
ACTIONS = {
    "torch-step": "migrate.parity.torch_side.capture",
    "mindspore-step": "migrate.parity.mindspore_side.capture",
    "torch-parts": "migrate.parity.torch_side.parts",
    "mindspore-parts": "migrate.parity.mindspore_side.parts",
    "torch-data": "migrate.parity.workers.data_worker",
    "mindspore-data": "migrate.parity.workers.data_worker",
    "mindspore-preflight": "migrate.preflight.child",
    "mindspore-preflight-batch": "migrate.preflight.child.batch",
    "torch-weights": "migrate.weights.torch_worker",
    "mindspore-weights": "migrate.weights.mindspore_worker",
}


_LONGEST = 10_000  # characters of a message


class Progress:
    """The stage the worker is in, on disk, so that it is known even if the process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.stage = ""

    @property
    def folder(self) -> Path:
        """The worker's own folder: for what frameworks write while they run."""
        return self._path.parent

    def enter(self, stage: str) -> None:
        record.refuse_forked()
        self.stage = stage
        write_bytes(self._path, stage.encode(errors="backslashreplace"), durable=False)


def main(job_path: str) -> None:
    """Carry out one job and end the process at once: MindSpore's own teardown is noisy and may
    crash.
    """
    folder = Path(job_path).parent
    job: dict[str, Any] = json.loads(Path(job_path).read_text(encoding="utf-8"))
    progress = Progress(folder / "progress")
    record.owned_by_this_process()
    progress.enter("starting")
    code = 0
    try:
        loading.use(job.get("loading"))
        import_module(ACTIONS[job["action"]]).run(job, progress)
        record.write_json(folder / "done.json", {})
    except RequestError as error:
        leave_word(folder, "request", progress.stage, error.what, error.where, error.next_step, "")
        code = 1
    except MemoryError:
        leave_word(folder, "memory", progress.stage, "ran out of memory", "", "", "")
        code = 1
    except BaseException as error:
        what = describe(error, _LONGEST)
        where = _user_line(error, job)
        only = loading.current().definitions_only
        step = advice.next_step(error, what, progress.stage, definitions_only=only)
        leave_word(folder, "exception", progress.stage, what, where, step, _trace(error))
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _trace(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))[-10 * _LONGEST :]
    except BaseException:  # a message that raises anything
        return f"the traceback of {type(error).__name__} could not be formatted"


def leave_word(
    folder: Path, kind: str, stage: str, what: str, where: str, next_step: str, trace: str
) -> None:
    """Write down how a job ended, for the process that started it."""
    word = {
        "kind": kind,
        "stage": stage,
        "what": what,
        "where": where,
        "next_step": next_step,
        "trace": trace,
    }
    record.write_json(folder / "error.json", word)


def _user_line(error: BaseException, job: dict[str, Any]) -> str:
    return user_code.innermost(user_code.traced(error)) or str(job.get("target", ""))
