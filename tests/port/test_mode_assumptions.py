"""A model whose mode is decided by code that is not in the request is listed as an assumption."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from migrate.cli import main

_LOOP = """\
    optimizer = torch.optim.SGD({model}.parameters(), lr=0.1)
    for x, y in data:
        optimizer.zero_grad()
        loss = F.mse_loss({model}(x), y)
        loss.backward()
        optimizer.step()
"""
_HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
_FUNCTION = f"{_HEAD}def train(model, data):\n" + _LOOP.format(model="model")
_DROPOUT = "class Net(nn.Module):\n    def forward(self, x):\n        return F.dropout(x, 0.5)\n"


def _assumed(
    folder: Path, capsys: pytest.CaptureFixture[str], *names: str
) -> list[tuple[str, int, str]]:
    main(["port", *[str(folder / name) for name in names], "--check", "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert all(one["check"] for one in document["assumptions"])
    return [
        (Path(one["path"]).name, one["line"], one["assumption"].partition(": ")[2])
        for one in document["assumptions"]
        if "training mode" in one["assumption"]
    ]


@pytest.mark.parametrize(
    ("source", "line", "reason"),
    [
        (_FUNCTION, 8, "who calls `train` is not in view"),
        (
            f"{_HEAD}{_DROPOUT}def score(model, x):\n    return model(x).sum()\n",
            8,
            "who calls `score` is not in view",
        ),
        (
            f"{_HEAD}from lib import net\ndef train(data):\n" + _LOOP.format(model="net"),
            9,
            "where it is built is not in view",
        ),
        (
            f"{_HEAD}from lib import build\ndef train(data):\n    net = build(3)\n"
            + _LOOP.format(model="net"),
            6,
            "what `build` does is not in view",
        ),
        (
            f"{_HEAD}def train(data, make):\n    net = make()\n" + _LOOP.format(model="net"),
            5,
            "what `make` does is not in view",
        ),
        (
            f"{_FUNCTION}def main(net):\n    train(net, [])\n",
            8,
            "who calls `train` is not in view",
        ),
    ],
    ids=[
        "given",
        "not trained",
        "imported",
        "built elsewhere",
        "built by an argument",
        "handed on",
    ],
)
def test_it_is_listed_with_its_line(
    source: str, line: int, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text(source)
    assert _assumed(tmp_path, capsys, "a.py") == [("a.py", line, reason)]


@pytest.mark.parametrize(
    "main_file",
    [
        "from a import train\nfrom torch import nn\ntrain(nn.Linear(2, 2), [])\n",
        "import a\nfrom torch import nn\nnet = nn.Linear(2, 2)\na.train(net, [])\n",
    ],
)
def test_a_caller_in_the_request_is_no_assumption(
    main_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text(_FUNCTION)
    (tmp_path / "run.py").write_text(main_file)
    assert not _assumed(tmp_path, capsys, "a.py", "run.py")


@pytest.mark.parametrize(
    "source",
    [
        _FUNCTION.replace("    optimizer = ", "    model.train()\n    optimizer = "),
        f"{_FUNCTION}train(nn.Linear(2, 2), [])\n",
        f"{_FUNCTION}def main(net):\n    train(net, [])\nmain(nn.Linear(2, 2))\n",
        f"{_HEAD}def make():\n    return nn.Linear(2, 2)\ndef train(data):\n    net = make()\n"
        + _LOOP.format(model="net"),
        f"{_HEAD}{_DROPOUT}def train(data):\n    net = Net()\n" + _LOOP.format(model="net"),
    ],
    ids=[
        "train() comes first",
        "called here",
        "called over two",
        "a function of the file",
        "a class of the file",
    ],
)
def test_what_is_in_view_is_no_assumption(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text(source)
    assert not _assumed(tmp_path, capsys, "a.py")


def test_the_summary_counts_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text(_FUNCTION)
    main(["port", str(tmp_path / "a.py"), "--check"])
    assert "1 assumption about types and callers out of view" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["analyze", "port"])
def test_the_summary_names_what_it_takes_for_granted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    path = tmp_path / "loop.py"
    path.write_text(_FUNCTION)
    check = ["--check"] if command == "port" else []
    main([command, str(path), *check])
    short = capsys.readouterr().out
    assert "`model` is in training mode here" in short and "loop.py:8" in short
    main([command, str(path), *check, "--assumptions"])
    assert "check: port those files too" in capsys.readouterr().out


def test_rows_without_a_run_are_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "seeds.py"
    path.write_text("import torch\ntorch.cuda.manual_seed_all(1)\ntorch.cuda.manual_seed_all(2)\n")
    main(["port", str(path), "--check"])
    named = [line for line in capsys.readouterr().out.splitlines() if "not measured" in line]
    assert named == [
        "  the row was not measured against torch, alone or in programs: torch.cuda.manual_seed_all"
    ]
