"""Files that somebody else may have put there: pipes, devices, endless or broken ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.errors import RequestError
from migrate.files.plain import NotPlain, read_json, read_plain
from migrate.parity.request.options import read_renames
from migrate.selection.baseline import Baseline
from migrate.weights import shards


def test_only_ordinary_files_of_a_sane_size(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_plain(path, 5) == b"12345"
    with pytest.raises(NotPlain, match="more than"):
        read_plain(path, 4)
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError, match=r"ordinary|directory"):
            read_plain(place, 5)


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "\udcff", '{"a": 1'])
def test_what_is_no_json_is_a_value_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(text.encode("utf-8", errors="surrogateescape"))
    with pytest.raises(ValueError):
        read_json(path)


READERS: list[Callable[[Path], object]] = [
    Baseline.read,
    lambda path: read_renames(str(path)),
    lambda path: shards.read(path, lambda _: {}),
]


@pytest.mark.parametrize("reader", READERS)
def test_readers_refuse_them_in_words(tmp_path: Path, reader: Callable[[Path], object]) -> None:
    deep, pipe = tmp_path / "deep.json", tmp_path / "pipe.json"
    deep.write_text('{"a": ' + "[" * 100_000)
    os.mkfifo(pipe)
    for path in (deep, pipe, tmp_path, tmp_path / "absent"):
        with pytest.raises(RequestError):
            reader(path)


def test_a_pipe_among_the_sources_and_helpers_is_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text("import torch\n\nx = torch.rand(2).bernoulli_()\n")
    (tmp_path / "ms_migrate_helpers.py").write_text("def mine():\n    pass\n")
    os.mkfifo(tmp_path / "pipe.py")
    os.symlink("/dev/zero", tmp_path / "zero.py")
    assert main(["port", str(tmp_path), "--diff"]) == 1
    shown = capsys.readouterr()
    assert "pipe.py" in shown.out + shown.err


@pytest.mark.parametrize(
    "words", [["analyze"], ["analyze", "--format", "json"], ["port", "--check"]]
)
def test_a_folder_of_links_to_no_source_is_said_to_hold_none(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for goal in ("/etc/hosts", "round.txt", "absent"):
        (tmp_path / f"{Path(goal).stem}.txt").symlink_to(goal)
    assert main([words[0], str(tmp_path), *words[1:]]) == 2
    shown = capsys.readouterr()
    assert "holds no Python source" in shown.out + shown.err
