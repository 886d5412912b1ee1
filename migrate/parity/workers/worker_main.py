"""What a worker does with its job: run it, report progress, and leave word of how it ended."""

from __future__ import annotations

import json
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from migrate.errors import RequestError
from migrate.parity.workers import record, user_code

# action -> module with run(job, progress) in it
ACTIONS = {
    "torch-step": "migrate.parity.torch_side.capture",
    "mindspore-step": "migrate.parity.mindspore_side.capture",
    "torch-parts": "migrate.parity.torch_side.parts",
    "mindspore-parts": "migrate.parity.mindspore_side.parts",
    "torch-data": "migrate.parity.workers.data_worker",
    "mindspore-data": "migrate.parity.workers.data_worker",
    "torch-weights": "migrate.weights.torch_worker",
    "mindspore-weights": "migrate.weights.mindspore_worker",
}


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
        self.stage = stage
        pending = self._path.with_name(".progress.part")
        pending.write_text(stage, encoding="utf-8")
        os.replace(pending, self._path)


def main(job_path: str) -> None:
    """Carry out one job and end the process at once: MindSpore's own teardown is noisy and may
    crash.
    """
    folder = Path(job_path).parent
    job: dict[str, Any] = json.loads(Path(job_path).read_text(encoding="utf-8"))
    progress = Progress(folder / "progress")
    progress.enter("starting")
    code = 0
    try:
        import_module(ACTIONS[job["action"]]).run(job, progress)
        record.write_json(folder / "done.json", {})
    except RequestError as error:
        _leave_word(folder, "request", progress.stage, error.what, error.where, error.next_step, "")
        code = 1
    except MemoryError:
        _leave_word(folder, "memory", progress.stage, "ran out of memory", "", "", "")
        code = 1
    except BaseException as error:
        trace = "".join(traceback.format_exception(error))
        what = f"{type(error).__name__}: {error}"
        _leave_word(folder, "exception", progress.stage, what, _user_line(error, job), "", trace)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _leave_word(
    folder: Path, kind: str, stage: str, what: str, where: str, next_step: str, trace: str
) -> None:
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
