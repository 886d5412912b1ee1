"""autocast and GradScaler as torch has them: types of results, scales, skipped steps, losses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.training.conftest import CHECKOUT, run_program

pytestmark = pytest.mark.frameworks

PROGRAM = Path(__file__).parent / "precision" / "autocast.py"
GRAPH = (
    "import mindspore, runpy, sys; mindspore.set_context(mode=mindspore.GRAPH_MODE);"
    " sys.path[0] = sys.argv[1]; sys.argv = sys.argv[2:];"
    " runpy.run_path(sys.argv[0], run_name='__main__')"
)
INJECTED = (3, 17)
HALF = ["float16"] * 5
# On GPUs torch keeps softmax and sums in float32; on CPU it casts neither up.
TYPES = [["float32"] * 7, [*HALF, "float32", "float32"], ["float32"] * 7]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("autocast")
    run_program(PROGRAM, folder / "torch.npz", cwd=folder)
    run_program("-m", "migrate", "port", PROGRAM, "-o", folder / "ported", cwd=CHECKOUT)
    ported = folder / "ported" / PROGRAM.name
    run_program(ported, folder / "pynative.npz", cwd=folder)
    run_program("-c", GRAPH, ported.parent, ported, folder / "graph.npz", cwd=folder)
    return folder


@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_steps_in_mixed_precision_are_torchs(folder: Path, mode: str) -> None:
    ours, theirs = np.load(folder / f"{mode}.npz"), np.load(folder / "torch.npz")
    np.testing.assert_array_equal(ours["scales"], theirs["scales"])
    assert len(set(theirs["scales"].tolist())) > 3  # it grew, and two steps were skipped
    # A step that overflows has no loss to compare: MindSpore's relu gives 0 for NaN.
    steps = [step for step in range(30) if step not in INJECTED]
    assert not np.isfinite(theirs["losses"][list(INJECTED)]).any()
    # float16 has three digits, and 30 steps add their errors up.
    np.testing.assert_allclose(ours["losses"][steps], theirs["losses"][steps], rtol=2e-2)
    np.testing.assert_allclose(ours["two"], theirs["two"], rtol=5e-3)


@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_types_hold_inside_of_blocks_only(folder: Path, mode: str) -> None:
    assert np.load(folder / f"{mode}.npz")["types"].tolist() == TYPES


@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_products_outside_of_blocks_are_in_float32(folder: Path, mode: str) -> None:
    ours, theirs = np.load(folder / f"{mode}.npz"), np.load(folder / "torch.npz")
    assert np.isfinite(theirs["outside"]).all()
    # The weights were moved by gradients that are float16 on the way through the block.
    np.testing.assert_allclose(ours["outside"], theirs["outside"], rtol=1e-3)


def test_evaluation_outside_is_exact(folder: Path) -> None:
    ours, theirs = np.load(folder / "graph.npz"), np.load(folder / "pynative.npz")
    np.testing.assert_allclose(ours["plain"], theirs["plain"], rtol=5e-2, atol=1e-2)
