"""The instruction set that MindSpore's convolutions should use on this processor.

oneDNN 3.10 inside MindSpore 2.10 falls back to its reference convolution on AMD processors with
AVX-512: forty times slower than with AVX2, and no more exact. `ONEDNN_MAX_CPU_ISA=AVX2` fixes it,
if it is set before mindspore is imported. Only such processors are measured, once; elsewhere, or
where the user has set the variable, nothing happens.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

VARIABLE = "ONEDNN_MAX_CPU_ISA"
_CANDIDATE = "AVX2"
_WORTH_IT = 2.0  # times faster
_SECONDS = 120.0
_CPU_INFO = Path("/proc/cpuinfo")
_CODE = """\
import time
import numpy as np
import mindspore as ms
ms.set_device("CPU")
draw = np.random.default_rng(0).standard_normal
x = ms.Tensor(draw((8, 64, 16, 16)).astype("float32"))
w = ms.Tensor(draw((64, 64, 3, 3)).astype("float32"))
best = 1e9
for _ in range(4):
    start = time.perf_counter()
    ms.ops.conv2d(x, w, stride=1, pad_mode="pad", padding=1).asnumpy()
    best = min(best, time.perf_counter() - start)
print("milliseconds", best * 1e3, flush=True)
import os
os._exit(0)
"""


class Timing(NamedTuple):
    """One convolution in milliseconds, as oneDNN comes and with the candidate."""

    plain: float
    limited: float

    @property
    def choice(self) -> str:
        return _CANDIDATE if self.plain > _WORTH_IT * self.limited else ""


def settings(environment: Mapping[str, str], python: str = "") -> dict[str, str]:
    """What to add to a worker's environment; empty where nothing helps or the user decided."""
    if VARIABLE in environment:
        return {}
    timing = measured(python or sys.executable)
    return {VARIABLE: timing.choice} if timing is not None and timing.choice else {}


def measured(python: str) -> Timing | None:
    """The timing of this processor, from the cache if it is there; None where none is needed."""
    processor = _slow_processor()
    if not processor:
        return None
    key = f"{processor}, mindspore {_version()}"
    kept = _recall().get(key)
    if kept is not None:
        return Timing(*kept)
    plain, limited = _run(python, ""), _run(python, _CANDIDATE)
    if plain is None or limited is None:
        return None
    _keep(key, Timing(plain, limited))
    return Timing(plain, limited)


def _slow_processor() -> str:
    """The model name, if it is of the kind on which oneDNN's choice is known to be slow."""
    try:
        text = _CPU_INFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    facts = {
        name.strip(): value.strip()
        for name, _, value in (line.partition(":") for line in text.splitlines()[:40])
    }
    slow = facts.get("vendor_id") == "AuthenticAMD" and "avx512f" in facts.get("flags", "").split()
    return facts.get("model name", "AMD") if slow else ""


def _run(python: str, limit: str) -> float | None:
    variables = {**os.environ, "GLOG_v": "3", "OMP_NUM_THREADS": "1"}
    if limit:
        variables[VARIABLE] = limit
    try:
        done = subprocess.run(
            [python, "-c", _CODE],
            env=variables,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    for line in done.stdout.splitlines():
        word, _, number = line.partition(" ")
        if word == "milliseconds":
            return float(number)
    return None


def _version() -> str:
    try:
        return metadata.version("mindspore")
    except metadata.PackageNotFoundError:
        return "unknown"


def _file() -> Path:
    from migrate.table.cache import directory

    return directory() / "onednn.json"


def _recall() -> dict[str, list[float]]:
    try:
        kept = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _keep(key: str, timing: Timing) -> None:
    """A cache that cannot be written costs the next run a few seconds, no more."""
    import tempfile

    target = _file()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False) as stream:
            json.dump({**_recall(), key: list(timing)}, stream)
        os.replace(stream.name, target)
    except OSError:
        return
