"""Port a piece of source as `ms-migrate port` would, without the command around it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate.port.file import PortedFile, port_file
from migrate.port.tree import Options, PortedTree, port_tree
from migrate.port.variants import with_variants
from migrate.project import discover
from migrate.resolve import Resolver
from migrate.table import Table

HELPER_IMPORT = "import ms_migrate_helpers as helpers"

Port = Callable[..., PortedFile]
PortTree = Callable[..., PortedTree]


@pytest.fixture(scope="session")
def table() -> Table:
    return Table()


@pytest.fixture
def port(tmp_path: Path, table: Table) -> Port:
    """Give `port(source)`: the ported file, findings and all."""
    calls = 0

    def run(source: str, **options: object) -> PortedFile:
        nonlocal calls
        calls += 1
        path = tmp_path / f"source_{calls}" / "example.py"
        path.parent.mkdir()
        path.write_bytes(textwrap.dedent(source).encode())
        project = discover([path])
        return port_file(
            Resolver(project, with_variants(table, project)),
            project.files[0],
            helper_import=HELPER_IMPORT,
            **options,  # type: ignore[arg-type]
        )

    return run


@pytest.fixture
def port_files(tmp_path: Path, table: Table) -> PortTree:
    """Give `port_files({path: source}, *asked)`: the ported tree of what was asked for."""

    def run(files: dict[str, str], *asked: str, **options: object) -> PortedTree:
        for name, source in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(source), encoding="utf-8")
        paths = [tmp_path / name for name in asked]
        return port_tree(paths, discover(paths), table, Options(**options))  # type: ignore[arg-type]

    return run
