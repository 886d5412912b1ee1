"""Build the model with real values, on the CPU, before the dry run begins.

A dry run computes nothing, so a model that computes its own structure with tensors (widths, depths,
rates of stochastic depth) would be built as another one. MindSpore takes a second device in the
same process; the variable that asks for the dry run is hidden until then.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import mindspore

from migrate.parity.request import plan, target
from migrate.parity.workers.worker_main import Progress
from migrate.preflight.child.line_markers import UserFiles
from migrate.preflight.child.value_reads import ValueReads

_SIMULATION = "MS_SIMULATION_LEVEL"


@dataclass
class Building:
    """What the TARGET gave on the CPU, or the error that it raised there."""

    target: str
    model: Any = None
    error: BaseException | None = None
    # Lines that read numbers which were not computed.
    reads: list[tuple[str, int]] = field(default_factory=list)

    def model_on_ascend(self, files: UserFiles, progress: Progress) -> Any:
        """The model; one that cannot be built on the CPU is built in the dry run."""
        if self.error is None:
            return self.model
        progress.enter("building the model")
        with ValueReads(files, self.reads):
            return target.build(target.parse(self.target))


def on_the_cpu(job: dict[str, Any], progress: Progress) -> Building:
    """Call before the device is set to Ascend."""
    building = Building(job["target"])
    progress.enter("building the model")
    with _computing():
        # Not by set_device, which MindSpore 2.8 takes only once.
        mindspore.set_context(device_target="CPU")
        mindspore.set_seed(plan.from_json(job["plan"]).seed)
        try:
            building.model = target.build(target.parse(job["target"]))
            mindspore.runtime.synchronize()
        except (Exception, SystemExit) as error:
            building.error = error
    return building


@contextmanager
def _computing() -> Iterator[None]:
    level = os.environ.pop(_SIMULATION)
    try:
        yield
    finally:
        os.environ[_SIMULATION] = level
