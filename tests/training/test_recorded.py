"""Steps that are no functions: their gradients are recorded, in PyNative mode, and torch's."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.conftest import CHECKOUT, run_program

pytestmark = pytest.mark.frameworks

PROGRAM = Path(__file__).parent / "recorded" / "policy.py"
SHARED = Path(__file__).parent / "programs" / "shared.py"
IN_GRAPH_MODE = (
    "import mindspore, runpy, sys; mindspore.set_context(mode=mindspore.GRAPH_MODE);"
    " sys.path.insert(0, '.'); runpy.run_path('policy.py', run_name='__main__')"
)


def numbers(output: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.\d+", output)]


def test_gradients_across_functions_are_recorded(tmp_path: Path) -> None:
    """Also where Graph mode was asked for: the program says that it runs in PyNative mode."""
    for file in (PROGRAM, SHARED):
        shutil.copy(file, tmp_path)
    expected = numbers(run_program("policy.py", cwd=tmp_path))
    port = [sys.executable, "-m", "migrate", "port", PROGRAM, SHARED, "-o", tmp_path / "ported"]
    done = subprocess.run(port, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "recorded while the program runs" in done.stdout
    found = numbers(run_program("-c", IN_GRAPH_MODE, cwd=tmp_path / "ported"))
    assert len(expected) == 9
    assert found == pytest.approx(expected, rel=2e-4, abs=5e-5)
