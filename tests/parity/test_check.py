"""The checker as a user meets it: clean twins pass, faults are named, failures are explained."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from migrate.cli import main
from migrate.parity import check
from migrate.parity.judge import compare, isolate
from migrate.parity.judge.tolerance import Tolerance
from migrate.parity.request import inputs
from migrate.parity.request.plan import Plan
from migrate.parity.workers import record
from tests.parity import fault_table
from tests.parity.faults import FAULTS, TWINS

pytestmark = pytest.mark.frameworks

CNN = [f"{TWINS / 'cnn_torch.py'}:Net(classes=7)", f"{TWINS / 'cnn_ms.py'}:Net(classes=7)"]
# One for each way of finding a fault: a layer, own code, a gradient, an update, a weight.
REPRESENTATIVE = (
    "max-pool pad_mode 'same'",
    "missing ReLU",
    "shortcut detached",
    "learning rate off by 10%",
    "bias missing",
)


def test_clean_twins_agree_in_both_modes_with_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    words = ["parity", *CNN, "--input", "4,3,32,32", "--classes", "7", "--steps", "2"]
    words += ["--optimizer", "adamw:lr=0.01,no_decay", "--format", "json", "--quiet"]
    assert main([*words, "--report", str(page)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["verdict"] == "parity" and result["diagnosis"] is None
    modes = {mode["mode"]: mode["stages"] for mode in result["modes"]}
    assert set(modes) == {"pynative", "graph"}
    for stage in ("weights", "outputs", "loss", "gradients", "updates", "buffers", "curve"):
        assert modes["graph"][stage], stage
    # Two calls of one shared ReLU are two rows.
    names = [row["name"] for row in modes["pynative"]["layers"]]
    assert "block1.relu" in names and "block1.relu, call 2" in names
    states = [row["name"] for row in modes["pynative"]["curve"]]
    assert any("exp_avg:" in name for name in states) and "loss of step 2" in states
    assert not list(tmp_path.glob(".*")), "no half-written file is left"
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text and "http" not in text.replace("http-equiv", "")


@pytest.mark.parametrize("name", REPRESENTATIVE)
def test_a_seeded_fault_is_caught_where_it_is(name: str, records: Path) -> None:
    fault = next(fault for fault in FAULTS if fault.name == name)
    found = fault_table.run_fault(fault, records)
    assert found.located and found.confirmed, found.text
    if name == "missing ReLU":
        # Made between two layers: the statement is named, on both sides.
        assert "torch: `" in found.text and "MindSpore: `" in found.text, found.text
        assert "ms-migrate writes here: `" in found.text, found.text


def test_every_fault_applies_to_its_twin(tmp_path: Path) -> None:
    assert len(FAULTS) >= 40
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    for fault in FAULTS:
        fault_table.seed_fault(fault, tmp_path)


def test_if_nobody_confesses_the_noise_is_measured_again(
    cnn_record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.symlink(cnn_record, tmp_path / "torch")
    monkeypatch.setattr(isolate, "run", lambda suspects, *_, **__: [isolate.Result(suspects[0])])
    monkeypatch.setattr(check, "SECOND_LOOK_RUNS", 3)
    family = fault_table.FAMILIES["cnn"]
    request = fault_table.make_request(family, family.files[1], TWINS / "training_ms.py")
    # A limit so low that a faithful twin breaks it.
    request = replace(request, tolerance=Tolerance(factor=0.1))
    told: list[str] = []
    report = check.run(request, tmp_path, told.append)
    assert any("measuring the noise again" in line for line in told)
    assert (tmp_path / "torch-again" / "run.json").is_file()
    assert report.exit_code == 1 and report.diagnosis is not None
    assert not report.diagnosis.confirmed and "agrees" in report.diagnosis.text


def test_a_relu_that_flips_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No noise run crosses this kink; torch led along MindSpore's activations does."""
    np.save(tmp_path / "x.npy", np.array([[0.5, 0.0], [0.7, 0.2]], dtype=np.float32))
    plan = Plan(inputs=[inputs.parse(str(tmp_path / "x.npy"))], init="exact")
    models = [f"{TWINS / f'kink_{side}.py'}:Kink" for side in ("torch", "ms")]
    request = check.Request(*models, plan, modes=("pynative",))
    monkeypatch.setattr(check, "SECOND_LOOK_RUNS", 3)
    folder = tmp_path / "steps"
    report = check.run(request, folder, lambda line: None)
    assert report.exit_code == 0
    assert any("along MindSpore's own activations" in n for n in report.comparisons[0].notes)
    # Without that run it would be an alarm, and a large one.
    steps = [record.read_step(folder / name) for name in ("torch", "pynative")]
    plain = compare.compare(*steps, request.tolerance)
    assert plain.first_stage == "gradients"
    assert max(row.judgement.ratio for row in plain.failed("gradients")) > 1000
    # It is the first thing tried: the many runs were not needed.
    assert record.read_info(folder / "torch-again", "start")["plan"]["noise_runs"] == 1
    monkeypatch.setattr(check, "_followed", lambda *_: "")
    found, again = check.explain(request, folder, [plain], lambda line: None)
    assert found is not None and not again[0].ok
    assert record.read_info(folder / "torch-again", "start")["plan"]["noise_runs"] == 3
    asked = replace(request, second_look=False)
    shutil.rmtree(folder / "torch-again")
    assert check.explain(asked, folder, [plain], lambda line: None)[0] is not None
    assert not (folder / "torch-again").exists()


def test_a_split_check_gives_the_same_verdict(
    cnn_record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step = tmp_path / "mindspore-step"
    model = f"{TWINS / 'cnn_ms.py'}:Net"
    words = ["capture", "mindspore", model, "--reference", str(cnn_record), "-o", str(step)]
    assert main([*words, "--quiet", "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["schema"], said["step"], said["mode"]) == (
        *("ms-migrate/capture", str(step), "pynative"),
    )
    assert said["stopped_early"] is None and said["peak_bytes"] > 0
    assert main(["compare", str(cnn_record), str(step), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "parity"
    assert main(["compare", str(step), str(cnn_record), "--rtol", "1e-12", "--atol", "0"]) == 1
    assert "DIVERGES" in capsys.readouterr().out


def test_a_model_that_kills_its_process_is_reported_with_its_stage(
    cnn_record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "dies.py"
    model.write_text("import os\ndef Net():\n    os.kill(os.getpid(), 11)\n")
    words = ["capture", "mindspore", f"{model}:Net", "--reference", str(cnn_record)]
    assert main([*words, "-o", str(tmp_path / "step"), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert "SIGSEGV" in said and "stage: importing the model" in said
    assert not (tmp_path / "step").exists() and not list(tmp_path.glob(".step*"))


def test_a_model_that_hangs_is_ended_in_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "hangs.py"
    model.write_text("import time\ndef Net():\n    time.sleep(600)\n")
    words = ["capture", "torch", f"{model}:Net", "--input", "1", "-o", str(tmp_path / "step")]
    assert main([*words, "--timeout", "1", "--quiet"]) == 2
    assert "did not finish within 1 s" in capsys.readouterr().err


def test_a_model_that_raises_is_reported_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "raises.py"
    model.write_text("def Net():\n    raise ValueError('no weights today')\n")
    words = ["capture", "torch", f"{model}:Net", "--input", "1", "-o", str(tmp_path / "step")]
    assert main([*words, "--quiet"]) == 2
    said = capsys.readouterr().err
    assert "no weights today" in said and "raises.py:2" in said and "Traceback" not in said
