"""Programs ported with `--style mindspore` train as torch does: 20 losses and the last weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import CHECKOUT, run_program

pytestmark = pytest.mark.frameworks

PROGRAMS = Path(__file__).parent / "style"
RUN = Path(__file__).parent / "style_run.py"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem != "common")
COMPILED = ["epoch_functions", "mixed", "one_main"]  # each optimizer, schedule and precision
# Measured: 3e-6 at worst in float32, 5e-4 with float16 layers.
NOISE = {"mixed": 5e-3}


def trained(folder: Path, out: Path, mode: str, names: list[str]) -> dict[str, Any]:
    out.mkdir(exist_ok=True)
    run_program("-W", "ignore", RUN, folder, out / f"{mode}.json", mode, *names, cwd=out)
    found: dict[str, Any] = json.loads((out / f"{mode}.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return trained(PROGRAMS, tmp_path_factory.mktemp("torch"), "torch", NAMES)


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Exit code 0: no loop is left."""
    folder = tmp_path_factory.mktemp("ported") / "out"
    options = ["--style", "mindspore", "-o", folder]
    run_program("-m", "migrate", "port", PROGRAMS, *options, cwd=CHECKOUT)
    return folder


@pytest.mark.parametrize(("mode", "names"), [("pynative", NAMES), ("graph", COMPILED)])
def test_losses_and_weights_are_torchs(
    expected: dict[str, Any], ported: Path, tmp_path: Path, mode: str, names: list[str]
) -> None:
    found = trained(ported, tmp_path / "run", mode, names)
    for name in names:
        ours, theirs = found[name], expected[name]
        bound = NOISE.get(name, 2e-5)
        assert len(theirs["losses"]) == 20
        assert theirs["losses"][-1] < theirs["losses"][0] / 2  # it learns
        assert ours["losses"] == pytest.approx(theirs["losses"], abs=bound), name
        assert len(ours["weights"]) == len(theirs["weights"])
        for one, other in zip(ours["weights"], theirs["weights"], strict=True):
            assert one == pytest.approx(other, abs=bound), name
    if mode == "pynative":
        kept = sorted(path.name for path in (tmp_path / "run" / "checkpoints").glob("*.ckpt"))
        assert kept == [f"model-{epoch}_4.ckpt" for epoch in range(1, 6)]
