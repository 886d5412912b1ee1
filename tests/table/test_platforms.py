"""Where rows run: as MindSpore's docstrings say, corrected by what ran on CPU."""

from __future__ import annotations

import json
import tomllib

import pytest

from migrate.cli import main
from migrate.resources import folder
from migrate.table import Table
from migrate.table.entry import PLATFORMS
from tests.table.scan_platforms import CALLED, FILE, TRAINED, document, documented, ran_on_cpu, uses

pytestmark = pytest.mark.frameworks


def kept() -> dict:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def test_the_file_says_what_the_docstrings_say():
    """`python -m tests.table.scan_platforms` writes it anew."""
    ran = set(kept()["cpu"]["ran"])
    assert FILE.read_text(encoding="utf-8") == document(ran)


def test_what_ran_on_cpu_has_cpu():
    evidence = json.loads((folder("mappings") / "evidence.json").read_text())["rows"]
    wrong = [
        f"{entry.torch} agreed on CPU, and its platforms are {entry.platforms}"
        for entry in Table()
        if evidence.get(entry.torch, {}).get("verdict") == "agrees" and "CPU" not in entry.platforms
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_a_correction_was_run():
    """And is one: a docstring that names CPU needs none."""
    assert ran_on_cpu(uses()) >= TRAINED | CALLED
    assert [name for name in kept()["cpu"]["ran"] if "CPU" in documented(name)] == []


@pytest.mark.parametrize(
    ("name", "platforms"),
    [
        ("torch.fft.fft", ("Ascend", "CPU")),
        ("torch.inverse", ("GPU", "CPU")),  # through its helper, too
        ("torch.nn.functional.conv2d", PLATFORMS),  # documented for two, and ran on the third
        ("torch.relu", PLATFORMS),
        ("torchvision.transforms.Resize", PLATFORMS),  # runs on the host
    ],
)
def test_a_row_runs_where_all_its_parts_do(name, platforms):
    row = Table().get(name)
    assert row is not None
    assert row.platforms == platforms


def test_analyze_judges_by_device(tmp_path, capsys):
    program = tmp_path / "spectrum.py"
    program.write_text("import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.fft.fft(x)\n")
    for device, problem in (("GPU", True), ("Ascend", False), ("CPU", False)):
        main(["analyze", str(program), "--device", device])
        assert (f"does not run on {device}" in " ".join(capsys.readouterr().out.split())) == problem
