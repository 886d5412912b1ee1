"""Mixed precision: every level has a case that agrees, and a fault is found through the noise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from migrate.cli import main
from tests.parity.faults import TWINS

pytestmark = pytest.mark.frameworks


def run(
    twin: str, callable_: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> tuple[int, dict]:
    models = [f"{TWINS / twin}_{side}.py:{callable_}" for side in ("torch", "ms")]
    code = main(["parity", *models, *words, "--format", "json", "--quiet"])
    return code, json.loads(capsys.readouterr().out)


MIXER = ("mlp", "Mixer", ["--input", "6,16", "--mode", "pynative"])
CNN = ("cnn", "Net", ["--input", "4,3,32,32", "--classes", "10", "--mode", "graph"])


@pytest.mark.parametrize(("level", "case"), [("O1", MIXER), ("O2", MIXER), ("O3", CNN)])
def test_a_faithful_twin_agrees(
    level: str, case: tuple[str, str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    twin, callable_, words = case
    code, result = run(twin, callable_, [*words, "--amp", level], capsys)
    assert code == 0 and result["plan"]["amp"] == level
    # Float16 shows: in float32 an output of one would be off by 1e-7.
    errors = [
        row["measures"]["relative_euclidean"] for row in result["modes"][0]["stages"]["outputs"]
    ]
    assert max(errors) > 1e-5


def test_where_mindspore_s_o1_fails_the_layer_is_named_and_its_cells_are_cast(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--input", "4,3,32,32", "--classes", "10", "--amp", "O1"]
    code, result = run("cnn", "Net", words, capsys)
    assert code == 0
    for mode, layer in zip(result["modes"], ("down.2 (LeakyReLU)", "a LeakyReLU"), strict=True):
        assert any(f"fails on {layer}" in note for note in mode["notes"]), mode["notes"]
        assert mode["stages"]["gradients"] and mode["agrees"]
    assert not Path("rewritten_network").exists(), "MindSpore writes into the current folder"


def test_a_fault_is_found_in_float16_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (TWINS / "cnn_ms.py").read_text()
    wrong = text.replace("nn.LeakyReLU(alpha=0.01)", "nn.LeakyReLU()")
    assert wrong != text
    (tmp_path / "cnn_ms.py").write_text(wrong)
    models = [f"{TWINS / 'cnn_torch.py'}:Net", f"{tmp_path / 'cnn_ms.py'}:Net"]
    words = ["--input", "4,3,32,32", "--classes", "10", "--amp", "O2", "--mode", "pynative"]
    assert main(["parity", *models, *words, "--format", "json", "--quiet"]) == 1
    diagnosis = json.loads(capsys.readouterr().out)["diagnosis"]
    assert diagnosis["path"] == "down.2" and diagnosis["emitted"].startswith("helpers.LeakyReLU()")
