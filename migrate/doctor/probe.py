"""Ask an interpreter about itself, in processes of their own and with a time limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrate import vision_shim
from migrate.errors import RequestError

_INSIDE = Path(__file__).with_name("inside.py")
_QUIET = {"GLOG_v": "3", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Probe:
    """What one process told before it ended, and how it ended."""

    stages: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    failure: str = ""  # empty when it came to its end
    late: bool = False  # stopped because its time was up

    def __contains__(self, stage: str) -> bool:
        return stage in self.stages

    def fact(self, stage: str, name: str) -> Any:
        return self.stages.get(stage, {}).get(name)


def run_probe(python: str, name: str, device: str, timeout: float) -> Probe:
    """Run one probe; whatever happens to its process, an answer comes back."""
    options = {"device": device}
    if name == "torchvision":
        options["shim"] = Path(vision_shim.__file__).read_text(encoding="utf-8")
    late = False
    with tempfile.TemporaryDirectory(prefix="ms-migrate-doctor-") as folder:
        answer = Path(folder) / "answer"
        try:
            done = subprocess.run(
                [python, str(_INSIDE), name, str(answer), json.dumps(options)],
                # Not the user's folder: a torch.py that lies there must not be taken for torch.
                cwd=folder,
                env={**_QUIET, **os.environ},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            failure, late = f"no answer within {timeout:g} s", True
        except OSError as error:
            raise RequestError(
                f"cannot start this interpreter ({(error.strerror or str(error)).lower()})",
                where=python,
                next_step="give --python the path of a Python",
            ) from None
        else:
            failure = _death(done.returncode, done.stderr)
        stages = _read(answer)
    if not stages and not failure:
        failure = "ended without an answer"
    if raised := stages.pop("error", {}):
        failure = f"{raised['kind']}: {brief(raised['message'])}"
    return Probe(stages, failure, late)


def run_all(python: str, device: str, timeout: float) -> dict[str, Probe]:
    """The interpreter first; then, side by side, only what it says is installed."""
    probes = {"interpreter": run_probe(python, "interpreter", device, timeout)}
    installed = probes["interpreter"].fact("python", "packages") or {}
    names = [n for n in ("mindspore", "torch", "torchvision", "numpy") if n in installed]
    with ThreadPoolExecutor(max_workers=2) as pool:
        answers = pool.map(lambda name: run_probe(python, name, device, timeout), names)
        probes.update(zip(names, answers, strict=True))
    return probes


def brief(message: str) -> str:
    """The part of a framework's error that a person needs: its first line, and libraries missed."""
    lines = [line.strip() for line in message.strip().splitlines()]
    # What follows "Please" refers to a manual, or to more of the same message.
    wanted = [lines[0].partition(" Please ")[0]] if lines else []
    wanted += [line for line in lines[1:] if line.startswith("Load dynamic library")][:1]
    return " ".join(wanted)


def _death(code: int, stderr: bytes) -> str:
    if code == 0:
        return ""
    if code < 0:
        return f"crashed with {signal.Signals(-code).name}"
    last = stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    return f"exit code {code}" + (f": {last[0]}" if last else "")


def _read(answer: Path) -> dict[str, dict[str, Any]]:
    try:
        lines = answer.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    stages: dict[str, dict[str, Any]] = {}
    for line in lines:
        try:
            told = json.loads(line)
        except ValueError:
            continue  # cut off by a crash in the middle of writing
        stages[told.pop("stage")] = told
    return stages
