"""Does MindSpore's Ascend backend load here? One operator in a child process tells."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from migrate.errors import RequestError
from migrate.preflight import installation, stubs
from migrate.preflight.environment import child_environment

_SOC = "Ascend910B2"
_PROGRAM = """
import os
import mindspore
mindspore.set_device("Ascend")
mindspore.ops.matmul(mindspore.ops.ones((2, 2)), mindspore.ops.ones((2, 2)))
mindspore.runtime.synchronize()
print("it runs", flush=True)
os._exit(0)
"""


def problem(python: str, seconds: float) -> tuple[str, str]:
    """Why preflight does not work here, and what to do; two empty strings if it does."""
    try:
        found = installation.find(python)
        found.check()
        folder = stubs.prepare(found)
    except RequestError as error:
        return error.what, error.next_step
    with tempfile.TemporaryDirectory(prefix="ms-migrate-preflight-") as scratch:
        try:
            done = subprocess.run(
                [found.python, "-c", _PROGRAM],
                cwd=scratch,
                env=child_environment(found, folder, Path(scratch), _SOC),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"the backend did not start within {seconds:g} s", "give a longer --timeout"
    if "it runs" in done.stdout:
        return "", ""
    said = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
    return f"the backend does not start: {said[0][:200]}", "report it with this line"
