"""Helpers by reason in the summary of a port."""

from __future__ import annotations

import json
from pathlib import Path

from migrate.cli import main
from migrate.emit.helper_reasons import reasons_of

PORTED = """\
import ms_migrate_helpers as helpers


class Head(helpers.Sequential):
    def __init__(self, norm=helpers.BatchNorm2d, pool: helpers.MaxPool2d | None = None):
        self.loss = helpers.CrossEntropyLoss()
        self.loader = helpers.DataLoader([])
        self.best = helpers.SGD([])
        assert isinstance(pool, (helpers.MaxPool2d, helpers.GlobalAvgPool2d))
"""


def test_how_a_helper_is_used_and_what_it_is_for() -> None:
    names = "Sequential BatchNorm2d MaxPool2d CrossEntropyLoss DataLoader SGD GlobalAvgPool2d"
    assert reasons_of(PORTED, names.split()) == {
        "Sequential": "composition",
        "BatchNorm2d": "passed on",
        "MaxPool2d": "semantics",
        "CrossEntropyLoss": "semantics",
        "DataLoader": "data",
        "SGD": "training",
        "GlobalAvgPool2d": "composition",
    }


def test_the_summary_counts_them(tmp_path: Path, capsys) -> None:
    (tmp_path / "net.py").write_text("from torch import nn\n\nnorm = nn.BatchNorm2d\n")
    arguments = ["port", str(tmp_path / "net.py"), "-o", str(tmp_path / "out")]
    assert main(arguments) == 0
    assert (
        "; 1 helper in ms_migrate_helpers.py (1 passed as values); no open"
        in capsys.readouterr().out
    )
    assert main([*arguments, "--force", "--format", "json"]) == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert summary["helper_reasons"] == {"passed on": 1}
    module = (tmp_path / "out" / "ms_migrate_helpers.py").read_text(encoding="utf-8")
    assert summary["helper_lines"] == len(module.splitlines())
