"""Requests that cannot be carried out say so at once: exit code 2, one message, no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.errors import RequestError
from migrate.parity.request import losses, optimizers
from migrate.parity.request.options import read_renames
from migrate.parity.workers import record

MODEL = "tests/parity/twins/cnn_torch.py:Net"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["parity", MODEL, MODEL], "at least one --input"),
        (["parity", MODEL], "two models are needed"),
        (["parity", "no.py:Net", MODEL, "--input", "1"], "no such file"),
        (["parity", MODEL, MODEL, "--input", "1", "--loss", "mystery"], "unknown loss"),
        (["parity", MODEL, MODEL, "--input", "1", "--loss", "mse:k=1"], "no option 'k'"),
        (["parity", MODEL, MODEL, "--input", "1", "--optimizer", "lion"], "unknown optimizer"),
        (["parity", MODEL, MODEL, "--input", "1", "--steps", "0"], "takes no step"),
        (["parity", MODEL, MODEL, "--input", "1", "--torch-loss", MODEL], "together"),
        (["parity", MODEL, MODEL, "--input", "1", "--map", "none.txt"], "cannot read this map"),
        (["parity", MODEL, MODEL, "--input", "1", "--weights", "none.pth"], "no such checkpoint"),
        (["capture", "mindspore", MODEL, "-o", "x"], "--reference STEP"),
        (["capture", "torch", MODEL, "-o", "tests", "--input", "1"], "exists already"),
        (["compare", "nothing", "here"], "no such recorded step"),
        (["parity", "--data", MODEL, MODEL], "no images"),
        (["parity", "--hyperparameters", "a.py", "b.py"], "cannot be read"),
    ],
)
def test_a_wrong_request_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    shown = capsys.readouterr()
    assert said in shown.err and "Traceback" not in shown.err and not shown.out


def test_a_missing_interpreter_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["parity", MODEL, MODEL, "--input", "1", "--torch-python", "/nowhere/python"]
    assert main([*words, "--quiet"]) == 2
    assert "/nowhere/python" in capsys.readouterr().err


def test_a_folder_that_is_no_step_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "start.json").write_text('{"format": "something else"}')
    assert main(["compare", str(tmp_path), str(tmp_path)]) == 2
    assert "recorded" in capsys.readouterr().err


BROKEN = [
    {},
    {"framework": 3},
    {"framework": "mindspore", "identity": "a"},
    {"framework": "mindspore", "identity": "a", "plan": None},
    {"framework": "mindspore", "identity": "a", "plan": {"amp": "O0"}, "structure": [[]]},
]


@pytest.mark.parametrize("start", BROKEN)
@pytest.mark.parametrize("run", [{}, {"events": [None]}, {"events": {"a": "\x1b[2J"}}])
def test_steps_that_lack_something_are_refused(
    start: dict[str, object],
    run: dict[str, object],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A recorded step travels between machines, and may have been written by anyone."""
    for name in ("torch", "mindspore"):
        record.write_part(tmp_path / name, "start", {**start, "framework": name}, {})
        record.write_part(tmp_path / name, "run", run, {})
    record.write_part(tmp_path / "torch", "start", start, {})
    for other in ("torch", "mindspore"):
        assert main(["compare", str(tmp_path / other), str(tmp_path / "mindspore")]) == 2
        err = capsys.readouterr().err
        assert "internal" not in err and "\x1b" not in err


def test_maps_are_lines_or_json(tmp_path: Path) -> None:
    lines, data = tmp_path / "lines.txt", tmp_path / "data.json"
    lines.write_text("# heads\nfc = classifier\n\nbn.weight = bn.gamma  # by hand\n")
    data.write_text('{"fc": "classifier"}')
    assert read_renames(str(lines)) == {"fc": "classifier", "bn.weight": "bn.gamma"}
    assert read_renames(str(data)) == {"fc": "classifier"}
    lines.write_text("fc classifier\n")
    with pytest.raises(RequestError, match="expected"):
        read_renames(str(lines))


def test_specs_are_read() -> None:
    assert losses.parse("cross_entropy:label_smoothing=0.1")[1] == {"label_smoothing": 0.1}
    name, settings = optimizers.parse("nesterov:lr=0.5,no_decay")
    assert name == "sgd"
    assert settings == {"lr": 0.5, "momentum": 0.9, "nesterov": True, "no_decay": True}


def test_no_decay_spares_biases_and_norms() -> None:
    names = [("conv.weight", 4), ("bn.weight", 1), ("fc.bias", 1)]
    split = optimizers.groups(names, {"weight_decay": 0.1, "no_decay": True})
    assert split == [(["conv.weight"], 0.1), (["bn.weight", "fc.bias"], 0.0)]


@pytest.mark.parametrize(
    "words",
    [["compare", "a", "b"], ["parity", MODEL, MODEL, "--input", "1"], ["parity", "--help"]],
)
def test_without_numpy_the_commands_say_what_they_need(words: list[str]) -> None:
    code = (
        "import sys\nsys.modules['numpy'] = None\nfrom migrate.cli import main\n"
        f"sys.exit(main({words!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr
    if "--help" in words:
        assert done.returncode == 0 and "--input" in done.stdout
    else:
        assert done.returncode == 2 and "pip install 'numpy>=1.26.4,<2'" in done.stderr
