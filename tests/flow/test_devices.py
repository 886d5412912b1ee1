"""Whether `x.to(it)` only moves: by the type, and by the name where nothing else is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from migrate.flow.devices import is_called_device, is_device
from migrate.port.porter import Options, Porter
from migrate.project import discover
from migrate.table import Table

_HEAD = (
    "import torch\ndef f(x: torch.Tensor, args, device, dev, other, rank: int, dtype=torch.half):\n"
)


@pytest.mark.parametrize(
    ("given", "answer", "called"),
    [
        ("'cuda:0'", "yes", True),
        ("torch.device('cpu')", "yes", True),
        ("x.device", "yes", True),
        ("rank", "yes", True),
        ("0", "yes", True),
        ("device", "unknown", True),
        ("dev", "unknown", True),
        ("args.device", "unknown", True),
        ("args['device']", "unknown", True),
        ("other", "unknown", False),
        ("torch.float16", "no", False),
        ("x", "no", False),
    ],
)
def test_devices(program: Callable[..., Any], given: str, answer: str, called: bool) -> None:
    p = program(f"{_HEAD}    return x.to({given})\n")
    node = p.expression(given, last=True)
    kind = p.flow.symbols.type(node)
    assert is_device(node, kind).answer.name.lower() == answer
    assert is_called_device(node, kind) is called


@pytest.mark.parametrize(
    ("given", "assumed"), [("device", True), ("torch.device('cpu')", False), ("x.device", False)]
)
def test_a_device_by_its_name_is_an_assumption(tmp_path: Path, given: str, assumed: bool) -> None:
    path = tmp_path / "move.py"
    path.write_text(f"{_HEAD}    return x.to({given})\n")
    project = discover([path])
    ported = Porter(project, Table(), Options()).port(project.files[0], "import helpers")
    assert "return x\n" in ported.text
    assert any("as its name says" in a.what for a in ported.coverage.assumptions) is assumed
