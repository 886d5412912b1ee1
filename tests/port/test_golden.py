"""ported_ms/ is what the porter gives for reference_pt/, to the letter."""

from __future__ import annotations

from pathlib import Path

from migrate.port.scaffold import add_scaffold
from migrate.port.tree import Options, port_tree
from migrate.project import discover
from migrate.table import Table

CHECKOUT = Path(__file__).resolve().parents[2]


def test_ported_ms_is_the_port_of_reference_pt(table: Table) -> None:
    reference = CHECKOUT / "reference_pt"
    tree = port_tree([reference], discover([reference]), table, Options(jobs=1))
    add_scaffold(tree)
    expected = {str(path): ported.text for path, ported in tree.files.items()}
    expected |= {str(path): text for path, text in tree.added.items()}
    folder = CHECKOUT / "ported_ms"
    committed = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.sh")])
    }
    assert committed.keys() == expected.keys()
    for name, text in expected.items():
        assert committed[name] == text, (
            f"{name}: run `ms-migrate port reference_pt -o ported_ms --force --scaffold`"
        )


def test_nothing_of_the_reference_is_left_to_do(table: Table) -> None:
    reference = CHECKOUT / "reference_pt"
    tree = port_tree([reference], discover([reference]), table, Options(jobs=1))
    assert tree.findings == []
    assert not any("import torch" in ported.text for ported in tree.files.values())


def test_several_processes_give_the_same(table: Table) -> None:
    reference = CHECKOUT / "reference_pt"
    alone, together = (
        port_tree([reference], discover([reference]), table, Options(jobs=jobs)) for jobs in (1, 3)
    )
    assert together.findings == alone.findings  # first: they name what went wrong in a process
    assert {path: ported.text for path, ported in together.files.items()} == {
        path: ported.text for path, ported in alone.files.items()
    }
    assert together.helpers == alone.helpers
