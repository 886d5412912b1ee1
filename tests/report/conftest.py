"""One analysis that has something of everything, built by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.analyze.model import Action, Analysis, Feature, Operator, Options, Place
from migrate.findings import make_finding
from migrate.table import Entry, Overload


def place(line: int, path: str = "pkg/net work.py", cell: int = 0) -> Place:
    return Place(path, line, 5, cell, "Net.forward", line, 15)


def entry(name: str, target: str, status: str, **more: object) -> Entry:
    return Entry(name, "class", (Overload(mindspore=target),), status, **more)  # type: ignore[arg-type]


@pytest.fixture
def analysis() -> Analysis:
    conv = Operator(
        "torch.nn.Conv2d",
        entry("torch.nn.Conv2d", "mindspore.nn.Conv2d", "rewritten", note='pads "same" & <so>'),
        [place(n) for n in range(1, 9)],
        troubled=1,
    )
    sparse = Operator(
        "torch.sparse",
        entry(
            "torch.sparse", "mindspore.ops.sparse", "risky", platforms=("CPU",), modes=("graph",)
        ),
        [place(3), place(4, "a.ipynb", 2)],
    )
    gone = Operator("torch.gone", entry("torch.gone", "", "missing"), [place(12)])
    odd = Operator("torch.a|b", None, [place(13)])
    guess = Operator("torch.Tensor.mul", None, [place(20)], unknown=True)
    sgd = entry("torch.optim.SGD", "mindspore.nn.SGD", "supported")
    grouped = Operator("torch.optim.SGD", sgd, [place(30)], group="optimizer")
    return Analysis(
        Options(),
        [conv, sparse, gone, odd, grouped, guess],
        [Feature("optimizer", "supported", {"SGD": 1}, [place(30)])],
        [
            Action("MS301", "torch.gone", "no <kernel>", "use ops.qr", "error", [place(12)]),
            Action("MS401", "if", "sides differ", "", "warning", [place(14)], mode="graph"),
            Action(
                "MS302",
                "torch.sparse",
                "may | differ",
                "",
                "warning",
                sparse.places,
                "torch.sparse",
            ),
            Action("MS308", "torch.nn.Conv2d", "simpler", "", "note", [place(1)]),
        ],
        [make_finding("MS205", Path("pkg/bad.py"), "is not valid Python", line=3, column=7)],
        files=3,
        torch_files=2,
        lines=1234,
        uses=13,
        automatic=9,
        by_status={"supported": 1, "rewritten": 8, "risky": 2, "missing": 1, "unlisted": 1},
    )
