"""Every form of input and output, in both modes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from migrate.cli import main
from migrate.parity.mindspore_side import call as mindspore_call
from migrate.parity.request import inputs
from tests.parity.faults import TWINS

BOTH = (f"{TWINS / 'forms_torch.py'}:%s", f"{TWINS / 'forms_ms.py'}:%s")


def checked(
    name: str, words: list[str], capsys: pytest.CaptureFixture[str], code: int = 0
) -> dict[str, Any]:
    models = [model % name for model in BOTH]
    assert main(["parity", *models, *words, "--format", "json", "--quiet"]) == code
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.mark.frameworks
def test_dicts_keywords_integers_and_flags_in_any_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Its name sorts before "image": the order of a record is not the order of the dict.
    random = np.random.default_rng(0)
    np.savez(tmp_path / "batch.npz", **{"batch.ids": random.integers(0, 50, 5)})
    np.save(tmp_path / "image.npy", random.standard_normal((5, 6)))
    words = ["--input", "flags=5:bool", "--input", f"batch.image={tmp_path / 'image.npy'}"]
    words += ["--input", str(tmp_path / "batch.npz"), "--input", "scale=5,4"]
    result = checked("Forms", [*words, "--optimizer", "adam:lr=0.01"], capsys)
    for mode in result["modes"]:
        assert [row["name"] for row in mode["stages"]["outputs"]] == ["['best']", "['logits']"]
    assert len(result["modes"]) == 2 and len(result["modes"][0]["stages"]["inputs"]) == 4
    assert any("float64: taken as float32" in note for note in result["modes"][0]["notes"])


@pytest.mark.frameworks
def test_a_dataclass_is_compared_field_by_field_and_its_graph_explained(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--input", "batch.ids=5:int64:0:50", "--input", "batch.image=5,6"]
    result = checked("Record", [*words, "--input", "flags=5:bool"], capsys, code=2)
    [eager] = result["modes"]
    assert eager["agrees"] and [row["name"] for row in eager["stages"]["outputs"]] == [
        ".best",
        ".logits",
    ]
    assert "return a tuple or a dict" in result["failures"]["graph"]


@pytest.mark.frameworks
def test_a_dict_made_from_a_dict_is_an_output_in_both_modes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = checked("Refined", ["--input", "5,6"], capsys)
    for mode in result["modes"]:
        assert [row["name"] for row in mode["stages"]["outputs"]] == ["['out']"]
    assert len(result["modes"]) == 2


@pytest.mark.frameworks
def test_an_interpreter_of_its_own_is_used_and_must_have_the_framework(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "python"
    mine.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/used\nexec {sys.executable} "$@"\n')
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    for script in (mine, bare):
        script.chmod(0o755)
    words = ["parity", *(model % "Forms" for model in BOTH), "--input", "batch.ids=5:int64:0:50"]
    words += ["--input", "batch.image=5,6", "--input", "flags=5:bool", "--quiet"]
    words += ["--mode", "pynative", "--torch-python", str(mine)]
    assert main([*words, "--ms-python", str(bare)]) == 2
    assert "job.json" in (tmp_path / "used").read_text()
    said = capsys.readouterr().out
    assert "has no numpy, safetensors, mindspore" in said and "--ms-python" in said
    assert "-m pip install 'numpy>=1.26.4,<2' 'safetensors>=0.4' mindspore" in said


def test_a_call_is_written_out_with_its_nesting() -> None:
    text = mindspore_call.source(["0", "batch.image", "batch.more.mask", "flag"])
    assert (
        "model(given_0, batch={'image': given_1, 'more': {'mask': given_2}}, flag=given_3)" in text
    )
    compile(text, "call", "exec")


def test_float64_files_become_float32_and_a_note(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones(3))
    notes: list[str] = []
    drawn = inputs.draw([inputs.parse(str(tmp_path / "x.npy"))], 0, notes)
    assert drawn["0"].dtype == np.float32 and len(notes) == 1
