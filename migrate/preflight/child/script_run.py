"""A whole program, for its first steps: every data loader gives a few batches, once."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from typing import Any

from migrate.parity.workers.worker_main import Progress
from migrate.preflight.child import file_guard, ranks, small_data
from migrate.preflight.child.helper_checks import NotCompiled, skip_value_checks
from migrate.preflight.child.import_hook import after_import_of_helpers
from migrate.preflight.child.line_markers import LineMarkers, UserFiles
from migrate.preflight.child.value_reads import ValueReads
from migrate.project.namespaces import Place, import_place

_MOST_LINES = 4


def run_script(
    job: dict[str, Any], markers: LineMarkers, progress: Progress
) -> tuple[list[str], list[dict[str, Any]]]:
    """Run the script as `python script.py ARGS` would; returns notes for the report, and the steps
    that were not compiled.
    """
    import mindspore

    path = Path(job["script"])
    reads = ValueReads(markers.files, [])
    batches = small_data.Limit(job["steps"], reads.end)
    batches.install()
    actions = [batches.limit_helpers, skip_value_checks]
    if job["ranks"] > 1:
        actions.append(ranks.join_helpers(job["ranks"]))
    after_import_of_helpers(*actions)
    eager = NotCompiled(markers.files)
    eager.install()
    device = _pin_device(mindspore, markers.files)
    guard = file_guard.FileGuard(progress.folder)
    guard.install(mindspore)
    sys.argv = [str(path), *job["arguments"]]
    place = import_place(path)
    folders = [str(path.parent), str(place.root)]
    sys.path[:0] = list(dict.fromkeys(folders))
    progress.enter("running the program")
    early: list[str] = []
    markers.start()
    try:
        with reads:
            _run_as_main(path, place)
    except small_data.EnoughSteps as ended:
        if not batches.given:
            raise RuntimeError(
                "a second pass over the data began before a batch was taken"
            ) from ended
    except file_guard.WouldReplace as refused:
        early = [
            f"the program was ended before it replaced {refused}, with values that were never "
            "computed: let it write elsewhere to check what follows"
        ]
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise
    finally:
        markers.stop()
        guard.remove_placeholders()
        os.chdir(job["directory"])
    progress.enter("done")
    return [*batches.notes(), *_read_early(reads), *device, *guard.notes(), *early], eager.found


def _run_as_main(path: Path, place: Place) -> None:
    if place.package and path.parent != Path(place.root):
        runpy.run_module(f"{place.package}.{path.stem}", run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(str(path), run_name="__main__")


def _read_early(reads: ValueReads) -> list[str]:
    """A model that is built from numbers which were not computed may be another one."""
    if not reads.places:
        return []
    lines = ", ".join(f"{Path(file).name}:{line}" for file, line in reads.places[:_MOST_LINES])
    left = len(reads.places) - _MOST_LINES
    more = f" and {left} more lines" if left > 0 else ""
    return [
        f"before the first batch, numbers were read from tensors at {lines}{more}, where a dry run "
        "has none: if the model is built from them, check it alone (file.py:callable), since then "
        "it is built with values"
    ]


def _pin_device(mindspore: Any, files: UserFiles) -> list[str]:
    """Programs choose a device themselves (often the CPU, or from an argument): it stays Ascend.
    The mode stays the one that was asked for, unless the helper module gives up compiling.
    """
    notes: list[str] = []
    set_context = mindspore.set_context

    def set_device(device_target: str, device_id: int | None = None) -> None:
        if device_target != "Ascend" and not notes:
            notes.append(f"the program selects the device {device_target}; Ascend was used instead")

    def pinned_context(**options: Any) -> None:
        if "device_target" in options:
            set_device(options.pop("device_target"))
        if files.has(sys._getframe(1).f_code.co_filename):
            options.pop("mode", None)
        options.pop("device_id", None)
        if options:
            set_context(**options)

    mindspore.set_device = set_device
    mindspore.set_context = pinned_context
    for module in (mindspore.context, mindspore.common):
        if hasattr(module, "set_context"):
            module.set_context = pinned_context
    return notes
