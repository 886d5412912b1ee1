"""The instruction set is limited only where that was measured to help, and never over the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate import onednn
from migrate.doctor.diagnose import OK, WARNING, _convolution
from migrate.onednn import VARIABLE, Timing, settings

AMD = "vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\nflags\t\t: sse avx2 avx512f\n"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Give `machine(cpuinfo, plain, limited)`: what is chosen there, and the runs."""
    monkeypatch.setenv("MS_MIGRATE_CACHE", str(tmp_path / "cache"))
    runs: list[str] = []

    def choose(cpuinfo: str, plain: float | None, limited: float | None, **environment: str):
        (tmp_path / "cpuinfo").write_text(cpuinfo)
        monkeypatch.setattr(onednn, "_CPU_INFO", tmp_path / "cpuinfo")

        def run(python: str, limit: str) -> float | None:
            runs.append(limit)
            return limited if limit else plain

        monkeypatch.setattr(onednn, "_run", run)
        return settings(environment), runs

    return choose


def test_the_faster_setting_is_chosen_and_remembered(machine) -> None:
    assert machine(AMD, 215.0, 4.0) == ({VARIABLE: "AVX2"}, ["", "AVX2"])
    assert machine(AMD, 1.0, 1.0) == ({VARIABLE: "AVX2"}, ["", "AVX2"])  # from the cache


def test_nothing_is_set_where_it_does_not_help(machine) -> None:
    assert machine(AMD, 4.1, 4.0)[0] == {}


def test_the_user_decides(machine) -> None:
    assert machine(AMD, 215.0, 4.0, **{VARIABLE: "AVX512_CORE"}) == ({}, [])


def test_other_processors_are_not_measured(machine) -> None:
    intel = AMD.replace("AuthenticAMD", "GenuineIntel")
    assert machine(intel, 215.0, 4.0) == ({}, [])
    assert machine(AMD.replace(" avx512f", ""), 215.0, 4.0) == ({}, [])


def test_a_mindspore_that_does_not_run_changes_nothing(machine) -> None:
    assert machine(AMD, None, None)[0] == {}


def test_a_broken_cache_is_measured_anew(machine, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "onednn.json").write_text("[not json")
    assert machine(AMD, 215.0, 4.0)[0] == {VARIABLE: "AVX2"}


def test_doctor_says_what_to_set() -> None:
    slow = _convolution(Timing(215.0, 4.0))
    assert slow.status == WARNING and slow.fix == f"export {VARIABLE}=AVX2"
    assert _convolution(Timing(4.0, 4.0)).status == OK
