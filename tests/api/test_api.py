"""The public functions give typed results that programs and notebooks can use."""

from __future__ import annotations

import json

import pytest

import migrate.api as ms_migrate
from migrate.api import testing
from migrate.errors import RequestError

SOURCE = """import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return torch.cat([x, x], dim=1)
"""


def test_port_source() -> None:
    ported = ms_migrate.port_source(SOURCE)
    assert ported.ok
    assert "nn.Cell" in ported.text and "import torch" not in ported.text
    assert {"-class Net(nn.Module):", "+class Net(nn.Cell):"} <= set(ported.diff().splitlines())
    assert "<pre>" in ported._repr_html_()
    compile(ported.text, "source.py", "exec")


def test_what_is_left_is_a_finding() -> None:
    ported = ms_migrate.port_source("import torch\nx = torch.nonesuch('<b>')\n")
    (finding,) = ported.findings
    assert (finding.line, finding.code) == (2, "MS303")
    assert not ported.ok
    assert "<b>" not in ported._repr_html_()
    broken = ms_migrate.port_source("import torch\ndef f(:\n")
    assert [one.code for one in broken.findings] == ["MS205"]
    assert broken.text == broken.source


def test_analyze_source() -> None:
    result = ms_migrate.analyze_source(SOURCE)
    assert (result.uses, result.ported, result.share, result.ok) == (2, 2, 1.0, True)
    assert result.operators["torch.cat"] == "mindspore.ops.cat"
    assert "2 of 2 uses" in result._repr_html_()


def test_bad_requests() -> None:
    with pytest.raises(RequestError, match="no target"):
        ms_migrate.port_source(SOURCE, target="tensorflow")
    with pytest.raises(RequestError, match="not the name of a Python file"):
        ms_migrate.port_source(SOURCE, name="../x.py")


@pytest.mark.parametrize(
    "source", ["import torch\r\nx = torch.ones(1)\r\n", "\ufeffimport torch\n"]
)
def test_line_ends_and_a_byte_order_mark_stay(source: str) -> None:
    text = ms_migrate.port_source(source).text
    assert ("\r\n" in text, text[:1] == "\ufeff") == ("\r\n" in source, source[0] == "\ufeff")
    assert "\n" not in text.replace("\r\n", "") or "\r" not in source


def test_a_declared_encoding_changes_no_letter() -> None:
    source = "# coding: {}\nimport torch\nx = torch.ones(1)  # {}\n"
    assert "# é" in ms_migrate.port_source(source.format("latin-1", "é")).text
    for encoding, text in (("latin-1", "中"), ("utf-8", "\udc80"), ("klingon", "a")):
        with pytest.raises(ms_migrate.RequestError, match="declaration"):
            ms_migrate.port_source(source.format(encoding, text))


def test_a_finding_names_the_cell() -> None:
    cell = {"cell_type": "code", "source": "import torch\nx = torch.nonesuch(1)", "metadata": {}}
    cells = [cell | {"source": "a = 1"}, cell]
    book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (finding,) = ms_migrate.port_source(book, name="a.ipynb").findings
    assert (finding.cell, finding.line) == (2, 2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--stpes", "3"], "no option --stpes: did you mean --steps"),
        (["--steps", "many"], "--steps"),
        (["--report", "x.html"], "no --report"),
        (["--keep", "x"], "no --keep"),
        (["--help"], "cannot be understood"),
    ],
)
def test_options_that_do_not_fit(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ms_migrate.RequestError, match=said):
        ms_migrate.check_parity("a.py:f", "b.py:f", inputs="2,3", options=options)
    assert capsys.readouterr() == ("", "")


class _Report:
    ok, verdict, first_difference, text = False, "diverges", "layer1.conv", "the comparison"


def test_assert_parity_says_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "check_parity", lambda *args, **options: _Report())
    with pytest.raises(AssertionError, match=r"diverges first at layer1\.conv\n\nthe comparison"):
        testing.assert_parity("a.py:f", "b.py:f", inputs=["2,3"])
