"""Values of options that cannot be meant are refused before anything is read or written."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.cli import main

NET = "import torch\n\nprint(torch.ones(2))\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NET, encoding="utf-8")
    return path


@pytest.mark.parametrize("number", ["-1", "0", "65", "x", "1.5", "²"])
@pytest.mark.parametrize("command", ["analyze", "port"])
def test_numbers_of_processes(
    command: str, number: str, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, str(source), f"--jobs={number}"])
    assert ended.value.code == 2
    assert "is not a number of processes from 1 to 64" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["analyze"], ["port", "--check"]])
def test_a_baseline_that_has_no_folder(
    command: list[str], source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was noticed at the end, and the name of a temporary file was shown."""
    place = tmp_path / "nosuch" / "baseline.json"
    assert main([*command, str(source), "--write-baseline", "--baseline", str(place)]) == 2
    told = capsys.readouterr().err
    assert f"{place}: its directory does not exist" in told


@pytest.mark.parametrize("name", ["settings.toml", "pyproject.toml", "setup.cfg"])
def test_a_configuration_file_without_a_section(
    name: str, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file was named, and passed over in silence."""
    place = tmp_path / name
    place.write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert main(["analyze", str(source), "--config-file", str(place)]) == 2
    assert "has no section for ms-migrate" in capsys.readouterr().err
