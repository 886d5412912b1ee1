"""`analyze` and `port` count the same uses, the same share and the same open items."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from migrate.cli import main

ROOT = Path(__file__).resolve().parents[2]

MIXED = {
    "model.py": """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x, mask):
        if mask.any():
            x = torch.nonesuch(x)
        return self.fc(x).to_sparse(), x.T
""",
    "train.py": """import torch, torch.nn.functional as F
from model import Net

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=.1)
for x, y in loader:
    opt.zero_grad()
    loss = F.cross_entropy(net(x, x)[0], y)
    loss.backward()
    opt.step()
    print(loss.item(), something.view(3))
torch.save(net, "all.pt")
""",
    "broken.py": "import torch\ndef f(:\n",
    "plain.py": "import os\n",
    "book.ipynb": json.dumps(
        {
            "cells": [
                {"cell_type": "markdown", "source": ["# a"], "metadata": {}},
                {
                    "cell_type": "code",
                    "source": ["import torch\n", "x = torch.ones(2)\n", "x.nonesuch()"],
                    "metadata": {},
                    "outputs": [],
                    "execution_count": None,
                },
            ],
            "metadata": {"language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    ),
}


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    for name, text in MIXED.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def _torchvision(part: str) -> Path:
    spec = find_spec("torchvision")
    if spec is None or spec.submodule_search_locations is None:
        pytest.skip("torchvision is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / part


def _counts(
    capsys: pytest.CaptureFixture[str], path: Path, *words: str
) -> list[tuple[int, dict[str, object]]]:
    found = []
    for command in (["analyze", str(path)], ["port", str(path), "--check"]):
        code = main([*command, "--format", "json", *words])
        document = json.loads(capsys.readouterr().out)
        found.append((code, document))
    return found


@pytest.mark.parametrize(
    "name", ["reference_pt", "mixed", "ops/misc.py", "models/densenet.py", "transforms/_utils"]
)
def test_both_count_the_same(name: str, mixed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = {"reference_pt": ROOT / "reference_pt", "mixed": mixed}.get(name) or _torchvision(name)
    if not path.exists():
        path = path.with_name("functional.py")
    (code, analysed), (port_code, ported) = _counts(capsys, path)
    ours, theirs = analysed["summary"], ported["summary"]
    assert isinstance(ours, dict) and isinstance(theirs, dict)
    assert code == port_code
    assert (ours["uses"], ours["automatic"], ours["share"], ours["open"]) == (
        *(theirs["usages"], theirs["ported"], theirs["share"], theirs["open"]),
    )
    assert (ours["measured"], ours["assumed"]) == (theirs["measured"], theirs["assumed"])
    assert analysed["assumptions"] == ported["assumptions"]
    assert ours["measured"] + ours["assumed"] == ours["automatic"]
    assert sum(ours["by_status"].values()) == ours["uses"]


def test_the_counts_are_those_of_the_program(
    mixed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (_, analysed), _ = _counts(capsys, mixed)
    summary = analysed["summary"]
    assert summary["open"] >= 3  # nonesuch, the broken file, to_sparse
    assert summary["automatic"] < summary["uses"]
    places = {(Path(one["path"]).name, one["line"]) for one in analysed["assumptions"]}
    assert ("train.py", 11) in places  # .view on a value of unknown type
    assert {Path(one["path"]).name for one in analysed["files"]} >= {"model.py", "train.py"}


def test_the_sentence_is_the_same(mixed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", str(mixed), "-q"])
    analysed = capsys.readouterr().out.strip().rstrip(".")
    main(["port", str(mixed), "--check"])
    ported = capsys.readouterr().out.strip().splitlines()[-1]
    assert analysed.partition(";")[0] in ported
    assert analysed.rpartition("; ")[2] in ported
    assert "%)" in analysed and "100%" not in analysed


def test_assumptions_are_listed_with_their_check(
    mixed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("migrate.analyze.coverage.is_measured", lambda name, folder: False)
    for words in (["analyze", str(mixed)], ["port", str(mixed), "--check"]):
        main([*words, "--assumptions"])
        shown = capsys.readouterr().out
        assert "train.py:11" in shown
        assert "annotate the value" in shown
        assert "was not measured against torch, alone or in programs" in shown


def test_an_estimate_says_less(mixed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", str(mixed), "--quick", "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert document["summary"]["open"] is None
    assert document["assumptions"] == []
