"""Findings: stable codes that the guide lists, places that editors understand, one order."""

from __future__ import annotations

from pathlib import Path

from migrate.findings import CODES, SEVERITIES, Finding, chosen_step, in_order, make_finding

GUIDE = Path(__file__).parent.parent / "docs" / "analyze.md"


def test_every_code_is_documented_as_it_is() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    for code, rule in CODES.items():
        assert f"| {code} | {rule.name} | {rule.severity} | {rule.summary} |" in text
    assert {rule.severity for rule in CODES.values()} <= set(SEVERITIES)


def test_place_and_text() -> None:
    finding = make_finding("MS205", Path("a/b.py"), "is odd", "fix it", line=3, column=7)
    assert str(finding) == "a/b.py:3:7: is odd; fix it [MS205]"
    assert make_finding("MS101", Path("a/b.py"), "is gone").where == "a/b.py"
    cell = Finding(Path("a.ipynb"), 2, 1, "MS205", "is odd", cell=4)
    assert cell.where == "a.ipynb: cell 4, line 2"


def test_order_is_by_place_and_without_repetition() -> None:
    found = [make_finding("MS205", Path(name), "x", line=line) for name, line in _PLACES]
    ordered = in_order([*found, found[0]])
    assert [(str(f.path), f.line) for f in ordered] == sorted(_PLACES)


_PLACES = [("b.py", 2), ("a.py", 10), ("a.py", 9), ("b.py", 1)]


def test_the_advice_for_a_chosen_member_names_one_of_that_module() -> None:
    assert "{'ReLU': nn.ReLU, ...}[name]" in chosen_step("torch.nn")
    assert "{'ReLU': nn.ReLU, ...}[name]" in chosen_step("torch")
    assert "{'relu': F.relu, ...}[name]" in chosen_step("torch.nn.functional.__dict__")
    assert "{'AutoAugment': transforms.AutoAugment, ...}" in chosen_step("torchvision.transforms")
    assert "--with-torchvision" in chosen_step("torchvision.models")
