"""The cache of built rows gives what the mapping file says, or steps aside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from migrate.table import Table, cache

ROWS = """
[defaults]
kind = "function"
[[api]]
torch = "torch.flatten"
params = "input, start_dim=0, end_dim=-1"
mindspore = "mindspore.ops.flatten"
pin = { start_dim = "0" }
values = { end_dim = { "-1" = "-1" } }
aliases = ["torch.ravel"]
example = { before = "torch.flatten(x)", after = "ops.flatten(x, start_dim=0)" }
[[family]]
names = ["abs", "exp"]
torch = "torch.{name}"
params = "input"
mindspore = "mindspore.ops.{name}"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MS_MIGRATE_CACHE", str(tmp_path / "cache"))
    tables = tmp_path / "mappings"
    tables.mkdir()
    (tables / "torch.toml").write_text(ROWS)
    (tables / "aliases.toml").write_text('[exact]\n"torch.absolute" = "torch.abs"\n')
    return tables


def refuse_to_build(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr("migrate.table.load.build_entries", fail)
    monkeypatch.setattr("migrate.table.load._read", fail)


def test_rows_survive_unchanged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = {entry.torch: entry for entry in Table(folder, cached=True)}
    Table(folder, cached=True).get("torch.absolute")
    refuse_to_build(monkeypatch)
    table = Table(folder, cached=True)
    assert {entry.torch: entry for entry in table} == built
    assert table.get("torch.ravel") is table.get("torch.flatten")
    assert table.get("torch.absolute") == built["torch.abs"]


def test_a_changed_file_is_read_again(folder: Path) -> None:
    assert Table(folder, cached=True).get("torch.cat") is None
    path = folder / "torch.toml"
    row = '[[api]]\ntorch = "torch.cat"\nparams = "tensors"\nmindspore = "mindspore.ops.cat"\n'
    path.write_text(ROWS + row)
    os.utime(path, ns=(1, 1))
    assert Table(folder, cached=True).get("torch.cat") is not None


def test_a_damaged_cache_is_built_again(folder: Path) -> None:
    Table(folder, cached=True).get("torch.flatten")
    (file,) = (cache.directory() / "tables").glob("torch-*.rows")
    good = file.read_bytes()
    for bad in (b"", b"nonsense", good[: len(good) // 2]):
        file.write_bytes(bad)
        assert Table(folder, cached=True).get("torch.flatten") is not None


def test_no_cache_directory_is_no_problem(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = folder / "file"
    blocked.write_text("")
    monkeypatch.setenv("MS_MIGRATE_CACHE", str(blocked / "below"))
    assert Table(folder, cached=True).get("torch.flatten") is not None
    assert Table(folder, cached=True).get("torch.exp") is not None


def test_cache_directory_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MS_MIGRATE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache.directory() == Path("/somewhere/ms-migrate")


def test_a_table_of_ones_own_leaves_nothing_behind(folder: Path) -> None:
    assert Table(folder).get("torch.exp") is not None
    assert not cache.directory().exists()


def test_a_file_that_is_written_while_it_is_read_is_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another process writes between the reading and the storing must not be hidden."""
    path = folder / "torch.toml"
    store = cache.store

    def late(of: Path, state: cache.Stamp, content: object) -> None:
        if of == path:
            path.write_text(ROWS.replace('"torch.flatten"', '"torch.unflatten"', 1))
            os.utime(path, ns=(1, 1))
        store(of, state, content)

    monkeypatch.setattr(cache, "store", late)
    assert Table(folder, cached=True).get("torch.flatten") is not None
    monkeypatch.setattr(cache, "store", store)
    assert Table(folder, cached=True).get("torch.flatten") is None
