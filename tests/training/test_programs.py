"""Small training programs in the spellings of real ones: the ported ones print torch's numbers."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.training.conftest import CHECKOUT, run_program

pytestmark = pytest.mark.frameworks

PROGRAMS = Path(__file__).parent / "programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem != "shared")
# One interpreter for all: importing a framework takes longer than they do.
RUN_ALL = """
import pathlib, runpy, sys
if sys.argv[1] == "graph":
    import mindspore
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
sys.path.insert(0, ".")
for name in sys.argv[2:]:
    print("==", name)
    runpy.run_path(f"{name}.py", run_name="__main__")
"""


def numbers(output: str) -> dict[str, list[float]]:
    """Program -> every number that it printed."""
    found: dict[str, list[float]] = {}
    for part in output.split("== ")[1:]:
        name, _, rest = part.partition("\n")
        found[name] = [float(n) for n in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", rest)]
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    folder = tmp_path_factory.mktemp("torch")
    shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
    return numbers(run_program("-W", "ignore", "-c", RUN_ALL, "torch", *NAMES, cwd=folder))


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything is ported, and nothing is left to do by hand."""
    folder = tmp_path_factory.mktemp("ported") / "out"
    run_program("-m", "migrate", "port", PROGRAMS, "-o", folder, cwd=CHECKOUT)
    return folder


@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_ported_programs_print_what_torch_prints(
    expected: dict[str, list[float]], ported: Path, mode: str
) -> None:
    found = numbers(run_program("-c", RUN_ALL, mode, *NAMES, cwd=ported))
    assert found.keys() == expected.keys() == set(NAMES)
    for name in NAMES:
        assert len(expected[name]) >= 8, name
        assert found[name] == pytest.approx(expected[name], rel=2e-4, abs=5e-5), name
