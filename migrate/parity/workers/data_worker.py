"""Run a preprocessing function on images: it takes a path, or makes a transform that takes an
image.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from migrate.parity.request import target
from migrate.parity.workers import record
from migrate.parity.workers.worker_main import Progress


def run(job: dict[str, Any], progress: Progress) -> None:
    """Preprocess every image and write the results as float32."""
    progress.enter("importing the preprocessing")
    if job["action"] == "torch-data":
        from migrate.vision_shim import ensure_torchvision

        ensure_torchvision()
    wanted = target.parse(job["target"])
    function = target.build(wanted) if wanted.call else target.load(wanted)
    arrays = {}
    for index, image in enumerate(job["images"]):
        progress.enter(f"preprocessing {Path(image).name}")
        arrays[str(index)] = as_array(function(image))
    record.write_part(Path(job["step"]), "run", {"mode": "data", "notes": []}, arrays)


def as_array(value: Any) -> Any:
    """A tensor of either framework, an image or an array, as float32."""
    if isinstance(value, (tuple, list)) and len(value) == 1:
        value = value[0]
    for method in ("asnumpy", "numpy"):
        if hasattr(value, method):
            value = getattr(value, method)()
            break
    return np.asarray(value, dtype=np.float32)
