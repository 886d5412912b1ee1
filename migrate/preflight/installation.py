"""The MindSpore that a dry run uses: where it is, which version, and whether it will do."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from migrate.errors import RequestError

# Releases whose dry run gives the known results for every seeded refusal (tests/preflight); stubs
# that fit one release may make another crash or, as 2.7, name no AI CPU kernel.
TESTED = ("2.8.0", "2.9.0", "2.10.0")
_PROBE = """
import importlib.metadata, importlib.util, json, platform, sys
spec = importlib.util.find_spec("mindspore")
found = {"machine": platform.machine(), "system": platform.system()}
if spec is not None and spec.origin:
    found["origin"] = spec.origin
    try:
        found["version"] = importlib.metadata.version("mindspore")
    except importlib.metadata.PackageNotFoundError:
        found["version"] = ""
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Installation:
    """A MindSpore wheel as an interpreter sees it; nothing of it is imported here."""

    python: str
    package: Path
    version: str
    machine: str
    system: str

    def problem(self) -> tuple[str, str]:
        """Why it cannot be used, and what to do; two empty strings if it can."""
        if self.system != "Linux" or self.machine != "x86_64":
            return (
                f"preflight needs Linux on x86_64, this is {self.system} on {self.machine}",
                "run it on an x86_64 Linux machine or container",
            )
        if self.version not in TESTED:
            return (
                f"preflight was tested with MindSpore {', '.join(TESTED)}, "
                f"this is {self.version or 'an unknown version'}",
                "install one into a separate environment: "
                f"pip install mindspore=={TESTED[-1]} 'numpy<2'",
            )
        if not self._plugin.is_file():
            return (
                "this MindSpore has no Ascend backend (libmindspore_ascend.so.2)",
                "install the wheel for x86_64 Linux from PyPI",
            )
        return "", ""

    def check(self) -> None:
        what, next_step = self.problem()
        if what:
            raise RequestError(what, where=str(self.package), next_step=next_step)

    @property
    def _plugin(self) -> Path:
        return self.package / "lib" / "plugin" / "libmindspore_ascend.so.2"

    def checksum(self) -> str:
        """Of the Ascend plugin's files, as the wheel's own record states them."""
        record = self.package.parent / f"mindspore-{self.version}.dist-info" / "RECORD"
        try:
            lines = record.read_text(encoding="utf-8").splitlines()
        except OSError:
            status = self._plugin.stat()
            return f"{self._plugin}:{status.st_size}:{status.st_mtime_ns}"
        stated = [line for line in lines if line.startswith("mindspore/lib/")]
        return hashlib.sha256("\n".join(sorted(stated)).encode()).hexdigest()

    @cached_property
    def library_folders(self) -> list[Path]:
        """Where the plugin's libraries look for each other."""
        lib = self.package / "lib"
        ascend = lib / "plugin" / "ascend"
        return [
            lib,
            lib / "plugin",
            ascend,
            ascend / "ms_kernels_internal" / "internal_kernel" / "lib",
            ascend / "ms_kernels_symmetric_memory" / "shmem" / "memfabric_hybrid" / "lib",
        ]


def find(python: str = "") -> Installation:
    """Look for MindSpore in this interpreter or in another."""
    executable = python or sys.executable
    found = _probe(executable)
    if "origin" not in found:
        raise RequestError(
            "this interpreter has no MindSpore",
            where=executable,
            next_step=f"pip install mindspore=={TESTED[-1]} 'numpy<2', or give --ms-python",
        )
    return Installation(
        executable,
        Path(found["origin"]).parent,
        found["version"],
        found["machine"],
        found["system"],
    )


def _probe(executable: str) -> dict[str, str]:
    if executable == sys.executable:
        return _here()
    try:
        ended = subprocess.run(
            [executable, "-c", _PROBE], capture_output=True, text=True, timeout=60, check=True
        )
        found: dict[str, str] = json.loads(ended.stdout.splitlines()[-1])
        return found
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise RequestError(
            f"cannot ask this interpreter for its MindSpore ({error})", where=executable
        ) from error


def _here() -> dict[str, str]:
    import importlib.metadata
    import importlib.util

    found = {"machine": platform.machine(), "system": platform.system()}
    spec = importlib.util.find_spec("mindspore")
    if spec is None or not spec.origin:
        return found
    try:
        version = importlib.metadata.version("mindspore")
    except importlib.metadata.PackageNotFoundError:
        version = ""
    return {**found, "origin": spec.origin, "version": version}
