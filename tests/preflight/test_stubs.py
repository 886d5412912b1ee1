"""The stub libraries: written without a compiler, loadable, and true to their source."""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from migrate.errors import RequestError
from migrate.preflight import installation, stubs
from migrate.preflight.installation import Installation
from migrate.preflight.stubs import compile as compiling
from migrate.preflight.stubs import elf_symbols
from migrate.preflight.stubs.build import GRAPH_ENGINE
from migrate.preflight.stubs.elf_writer import shared_library


def test_a_written_library_loads_and_its_functions_return(tmp_path: Path) -> None:
    path = tmp_path / "libtest.so"
    functions = [f"function_{number}" for number in range(500)]
    path.write_bytes(shared_library("libtest.so", ["libc.so.6"], functions, ["makes"], ["block"]))
    library = ctypes.CDLL(str(path))
    assert {getattr(library, name)(1, 2) for name in functions} == {0}
    library.makes.restype = ctypes.c_void_p
    block = ctypes.c_char.in_dll(library, "block")
    assert library.makes() == ctypes.addressof(block)
    assert bytes((ctypes.c_char * 65536).from_address(library.makes())) == bytes(65536)
    assert not hasattr(library, "absent")


def test_symbols_are_read_like_nm_reads_them() -> None:
    if shutil.which("nm") is None:
        pytest.skip("no nm")
    symbols = elf_symbols.read(GRAPH_ENGINE)
    lines = subprocess.run(
        ["nm", "-D", "--defined-only", str(GRAPH_ENGINE)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert symbols.defined == {line.split()[-1].partition("@")[0] for line in lines}
    assert not symbols.missing  # all that it needs is bound to a version of a system library


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.so"
    path.write_bytes(struct.pack("<100x"))
    with pytest.raises(ValueError, match="not a 64-bit ELF"):
        elf_symbols.read(path)


def test_the_shipped_library_was_built_from_the_source() -> None:
    stamp = f"ms-migrate-source:{compiling.digest()}".encode()
    assert stamp in compiling.LIBRARY.read_bytes(), "run python -m migrate.preflight.stubs.compile"


def test_the_source_compiles_to_the_same_symbols(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    compiling.compile_library(tmp_path / "again.so")
    again = elf_symbols.read(tmp_path / "again.so").defined
    names = {name for name in again if "N2ge" in name or name.startswith("acl")}
    assert names <= elf_symbols.read(compiling.LIBRARY).defined
    assert len(names) > 100


def _installation(tmp_path: Path, **changes: str) -> Installation:
    values = {"version": "2.10.0", "machine": "x86_64", "system": "Linux", **changes}
    return Installation("python", tmp_path, **values)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": "2.6.0"}, "was tested with MindSpore 2.8.0, 2.9.0, 2.10.0, this is 2.6.0"),
        ({"machine": "aarch64"}, "needs Linux on x86_64, this is Linux on aarch64"),
        ({"system": "Darwin"}, "this is Darwin on x86_64"),
        ({}, "has no Ascend backend"),
    ],
)
def test_what_was_not_tested_is_refused(
    tmp_path: Path, changes: dict[str, str], reason: str
) -> None:
    with pytest.raises(RequestError, match=reason):
        stubs.prepare(_installation(tmp_path, **changes))


@pytest.mark.frameworks
def test_stubs_are_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MS_MIGRATE_CACHE", str(tmp_path))
    here = installation.find()
    folder = stubs.prepare(here)
    library = folder / stubs.CANN / "lib64" / "libascendcl.so"
    before = library.stat().st_mtime_ns
    assert stubs.prepare(here) == folder
    assert library.stat().st_mtime_ns == before
    assert folder.name.startswith(here.version)
    assert [path.name for path in (tmp_path / "preflight").iterdir()] == [folder.name]
    symbols = _dynamic_names(library)
    # Neither the system's functions nor MindSpore's own may be replaced.
    assert b"dlsym" not in symbols
    assert not any(b"mindspore7dataset6Tensor" in name for name in symbols)
    assert b"aclnnAdd" in symbols


def _dynamic_names(path: Path) -> set[bytes]:
    return set(path.read_bytes().split(b"\0"))
