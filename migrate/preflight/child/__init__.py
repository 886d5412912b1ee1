"""What the child process does: load MindSpore on the stub libraries and run the program once."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from migrate.errors import RequestError
from migrate.parity.workers import user_code
from migrate.parity.workers.worker_main import Progress
from migrate.preflight.child import idle_threads, ranks
from migrate.preflight.child.line_markers import LineMarkers, UserFiles

if TYPE_CHECKING:
    from migrate.preflight.child.building import Building

# Everything that MindSpore logs, and the markers between; a worker's own stderr is cut when long.
LOG = "mindspore.log"


def run(job: dict[str, Any], progress: Progress) -> None:
    """Run the job and leave result.json: how it ended, the peak memory, what was left out."""
    log = os.open(progress.folder / LOG, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.dup2(log, 2)
    # Imported here: the variables of the dry run are read when MindSpore is loaded.
    import mindspore

    files = UserFiles(job["roots"], (str(Path(mindspore.__file__).parent),))
    built = _built(job, progress) if job["kind"] == "target" else None
    progress.enter("loading the Ascend backend")
    mindspore.set_device("Ascend")
    # Kernels are selected where they are called, so that the log names them in order.
    mindspore.runtime.launch_blocking()
    size = job.get("ranks", 1)
    if size > 1:
        ranks.install_hccl()
    if size > 1 and job["kind"] == "target":
        ranks.form_group()
    if size == 1 or job["kind"] == "target":  # a program forms its group before any operator
        _initialize(mindspore, progress.folder)
    graph = job["mode"] == "graph"
    os.environ["MS_MIGRATE_MODE"] = "graph" if graph else "pynative"
    mindspore.set_context(mode=mindspore.GRAPH_MODE if graph else mindspore.PYNATIVE_MODE)
    markers = LineMarkers(files)
    result: dict[str, Any] = {"error": None, "notes": [], "not_compiled": []}
    try:
        if built is not None:
            from migrate.preflight.child.target_step import take_step

            take_step(job, built, markers, progress)
        else:
            from migrate.preflight.child.script_run import run_script

            result["notes"], result["not_compiled"] = run_script(job, markers, progress)
        mindspore.runtime.synchronize()
        result["notes"] += ranks.notes(size)
    except RequestError:
        raise
    except (Exception, SystemExit) as error:
        result["error"] = _described(error)
    finally:
        markers.stop()
    result["read"] = built.reads if built is not None else []
    result["stage"] = progress.stage
    result["peak_bytes"] = int(mindspore.runtime.max_memory_allocated())
    path = progress.folder / "result.json"
    pending = path.with_suffix(".part")
    pending.write_text(json.dumps(result), encoding="utf-8")
    os.replace(pending, path)
    sys.stderr.flush()


def _built(job: dict[str, Any], progress: Progress) -> Building:
    from migrate.preflight.child import building

    return building.on_the_cpu(job, progress)


def _initialize(mindspore: Any, scratch: Path) -> None:
    """Start the backend with its first operator: it makes a folder in the current one."""
    before = os.getcwd()
    os.chdir(scratch)
    try:
        mindspore.ops.zeros((1,), mindspore.float32)
        mindspore.runtime.synchronize()
        idle_threads.yield_to_the_program()
    finally:
        os.chdir(before)


def _described(error: BaseException) -> dict[str, Any]:
    import traceback

    text = str(error)
    return {
        "type": type(error).__name__,
        "text": text[:20000],
        "places": [
            [str(Path(file).resolve()) if not file.startswith("<") else file, line]
            for file, line in user_code.traced(error)
        ],
        "trace": "".join(traceback.format_exception(error))[-8000:],
    }
