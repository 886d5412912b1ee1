"""Long chains of operators: analysed by a loop, refused by port before the parser hangs."""

from __future__ import annotations

from pathlib import Path

from migrate.port.tree import Options, port_tree
from migrate.project import discover
from migrate.resolve import Resolver
from migrate.syntax.depth import DEEPEST_CHAIN
from migrate.table import Table


def chain(path: Path, terms: int) -> Path:
    path.write_text("import torch\n\nx = " + " + ".join(["torch.ones(1)"] * terms) + "\n")
    return path


def test_a_sum_of_20_000_terms_is_resolved(tmp_path: Path) -> None:
    project = discover([chain(tmp_path / "sum.py", 20_000)])
    resolution = Resolver(project, Table()).file(project.files[0])
    assert resolution.problem is None and len(resolution.usages) == 20_000


def test_port_refuses_what_the_parser_would_hang_on(tmp_path: Path) -> None:
    path = chain(tmp_path / "sum.py", DEEPEST_CHAIN + 1)
    (ported,) = port_tree([path], discover([path]), Table(), Options()).files.values()
    assert ported.problem is not None and ported.problem.code == "MS208"
    assert ported.problem.line == 3 and ported.text == path.read_text()


def test_a_sum_of_moderate_length_ports(tmp_path: Path) -> None:
    path = chain(tmp_path / "sum.py", 300)
    (ported,) = port_tree([path], discover([path]), Table(), Options()).files.values()
    assert ported.problem is None and ported.text.count("ops.ones(1)") == 300
