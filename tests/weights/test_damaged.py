"""Damaged and hostile weight files, full disks and two writers: refused in words, nothing lost."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import struct
from pathlib import Path
from typing import Any

import pytest

from migrate.cli import main
from migrate.files import atomic
from migrate.files.lock import sole_writer
from migrate.weights import blobs
from migrate.weights import shards as sharding
from migrate.weights.blobs import Blob

GOOD = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
DATA = bytes(8)


def packed(header: Any, data: bytes = DATA) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(**changes: Any) -> bytes:
    return packed({"bn.running_mean": {**GOOD, **changes}})


MALFORMED = {
    "shape 2.7": entry(shape=[2.7]),
    "shape true": entry(shape=[True, 2]),
    "shape text": entry(shape="2"),
    "shape null": entry(shape=None),
    "shape nested": entry(shape=[[2]]),
    "shape negative": entry(shape=[-2]),
    "shape huge": entry(shape=[2**62, 4]),
    "shape too large to count": entry(shape=[10**30]),
    "shape object": entry(shape={"0": 2}),
    "dtype number": entry(dtype=7),
    "dtype unknown": entry(dtype="F33"),
    "dtype null": entry(dtype=None),
    "dtype list": entry(dtype=["F32"]),
    "offsets text": entry(data_offsets="08"),
    "offsets one": entry(data_offsets=[0]),
    "offsets three": entry(data_offsets=[0, 4, 8]),
    "offsets reversed": entry(data_offsets=[8, 0]),
    "offsets float": entry(data_offsets=[0.0, 8.0]),
    "offsets null": entry(data_offsets=None),
    "offsets negative": entry(data_offsets=[-8, 0]),
    "offsets beyond": entry(data_offsets=[0, 800]),
    "entry list": packed({"a": [1, 2]}),
    "entry null": packed({"a": None}),
    "entry text": packed({"a": "F32"}),
    "entry number": packed({"a": 1}),
    "header list": packed([]),
    "header null": packed(None),
    "header text": packed("x"),
    "header number": packed(1),
    "header not JSON": packed(b"{'a': 1}"),
    "header cut": packed(b'{"a": {"dtype": "F32"'),
    "header not UTF-8": packed(b'{"\xff\xfe": {}}'),
    "header deep": packed(b'{"a":' * 20_000),
    "header empty": packed(b""),
    "metadata list": packed({"__metadata__": [1], "a": GOOD}),
    "metadata numbers": packed({"__metadata__": {"a": 1}, "a": GOOD}),
    "no offsets": packed({"a": {"dtype": "F32", "shape": [2]}}),
    "no shape": packed({"a": {"dtype": "F32", "data_offsets": [0, 8]}}),
    "hole": packed({"a": {**GOOD, "data_offsets": [4, 12]}}, bytes(12)),
    "overlap": packed({"a": GOOD, "b": GOOD}),
    "trailing bytes": packed({"a": GOOD}, bytes(9)),
    "missing bytes": packed({"a": GOOD}, bytes(7)),
    "length beyond the file": struct.pack("<Q", 2**40) + b"{}",
    "length of all ones": b"\xff" * 8 + b"{}",
    "seven bytes": bytes(7),
    "eight bytes": bytes(8),
    "text": b"this is not a safetensors file at all",
    "a zip": b"PK\x03\x04" + bytes(60),
    "a pickle": b"\x80\x02}q\x00." + bytes(60),
    "one name twice": packed(
        b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
        b'"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}'
    ),
    "one name twice, spelled apart": packed(
        b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
        b'"\\u0061":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}'
    ),
    "metadata twice": packed(
        b'{"__metadata__":{"format":"pt"},"__metadata__":{"format":"ms"},'
        b'"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
    ),
    "no tensors": packed({}, b""),
    "only metadata": packed({"__metadata__": {"format": "pt"}}, b""),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_safetensors_are_refused_in_words(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, goal = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    source.write_bytes(MALFORMED[name])
    assert main(["weights", str(source), str(goal), "--from", "torch"]) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err and "internal error" not in err and "a.safetensors" in err
    assert {path.name for path in tmp_path.iterdir()} == {"a.safetensors"}


@pytest.mark.parametrize(
    "counters",
    ["[]", "{", '{"bn.num_batches_tracked": "x"}', '{"a": 1e99}', '{"a": ' + "9" * 30 + "}"],
)
def test_counters_in_metadata_are_believed_only_as_numbers(counters: str, tmp_path: Path) -> None:
    source, goal = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    names = ("bn.gamma", "bn.beta", "bn.moving_mean", "bn.moving_variance")
    tensors = {name: Blob("F32", (2,), DATA) for name in names}
    blobs.write(source, tensors, {"num_batches_tracked": counters})
    assert main(["weights", str(source), str(goal), "--from", "mindspore", "--quiet"]) == 0
    found, _ = blobs.read(goal)
    assert found["bn.num_batches_tracked"].data == DATA


def shards(folder: Path, **places: str) -> Path:
    """Two files with a norm between them, and an index that says where each tensor is."""
    first = {"bn.gamma": Blob("F32", (2,), DATA), "bn.beta": Blob("F32", (2,), bytes(range(8)))}
    second = {name: Blob("F32", (2,), DATA) for name in ("bn.moving_mean", "bn.moving_variance")}
    blobs.write(folder / "model-1.safetensors", first)
    blobs.write(folder / "model-2.safetensors", second)
    where = dict.fromkeys(first, "model-1.safetensors")
    where |= dict.fromkeys(second, "model-2.safetensors")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 32}, "weight_map": where | places}))
    return index


def test_shards_are_put_together(tmp_path: Path) -> None:
    goal = tmp_path / "whole.safetensors"
    assert main(["weights", str(shards(tmp_path)), str(goal), "--quiet"]) == 0
    found, _ = blobs.read(goal)
    assert set(found) >= {"bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"}
    assert found["bn.bias"].data == bytes(range(8))


def test_shards_are_written_and_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sharding, "LARGEST", 20)  # two tensors of eight bytes a file
    index = tmp_path / "torch.safetensors.index.json"
    words = ["weights", str(shards(tmp_path)), str(index), "--quiet"]
    assert main(words) == 0
    places = json.loads(index.read_text())["weight_map"]
    assert sorted(set(places.values())) == [
        f"torch-0000{n}-of-00003.safetensors" for n in (1, 2, 3)
    ]
    assert all(name in blobs.read(tmp_path / file)[0] for name, file in places.items())
    back = tmp_path / "back.safetensors"
    assert main(["weights", str(index), str(back), "--quiet"]) == 0
    found, _ = blobs.read(back)
    assert found["bn.beta"].data == bytes(range(8)) and found["bn.gamma"].data == DATA
    index.unlink()  # its files are still there
    assert main(words) == 2 and "exists already" in capsys.readouterr().err
    assert main([*words, "--force"]) == 0


@pytest.mark.parametrize("file", ["model-2.safetensors", "model-3.safetensors"])
def test_shards_that_lack_a_tensor_are_refused(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = shards(tmp_path, **{"head.weight": file})
    assert main(["weights", str(index), str(tmp_path / "b.safetensors")]) == 2
    said = capsys.readouterr().err
    assert ("head.weight" if file == "model-2.safetensors" else file) in said
    assert not (tmp_path / "b.safetensors").exists()


def checkpoint(path: Path, value: int = 0, size: int = 8) -> Path:
    data = bytes([value]) * size
    blobs.write(path, {"bn.running_mean": Blob("U8", (size,), data)})
    return path


def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, goal = checkpoint(tmp_path / "a.safetensors"), tmp_path / "b.safetensors"
    goal.write_bytes(b"old")

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    words = ["weights", str(source), str(goal), "--from", "torch", "--force"]
    assert main(words) == 2
    assert "no space left" in capsys.readouterr().err.lower()
    assert goal.read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == {source.name, goal.name}


def test_planted_links_under_old_temporary_names(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    source, goal = checkpoint(tmp_path / "a.safetensors"), tmp_path / "b.safetensors"
    for name in (".b.safetensors.part", ".pending-b.safetensors"):
        (tmp_path / name).symlink_to(victim)
    goal.symlink_to(victim)
    words = ["weights", str(source), str(goal), "--from", "torch", "--quiet"]
    assert main(words) == 2  # a link is in the way
    assert main([*words, "--force"]) == 0
    assert victim.read_text() == "precious" and not goal.is_symlink()


def test_the_second_writer_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, goal = checkpoint(tmp_path / "a.safetensors"), tmp_path / "b.safetensors"
    with sole_writer(goal):
        assert main(["weights", str(source), str(goal), "--from", "torch"]) == 2
    assert "another ms-migrate" in capsys.readouterr().err and not goal.exists()


def _write_often(path: Path, value: int) -> None:
    for _ in range(20):
        checkpoint(path, value, 200_000)


def test_readers_beside_two_writers_always_see_a_whole_file(tmp_path: Path) -> None:
    path = checkpoint(tmp_path / "a.safetensors", 1, 200_000)
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_often, args=(path, value)) for value in (1, 2)]
    for writer in writers:
        writer.start()
    reads = 0
    while any(writer.is_alive() for writer in writers) or reads < 24:
        tensors, _ = blobs.read(path)
        assert len(set(tensors["bn.running_mean"].data)) == 1
        reads += 1
    for writer in writers:
        writer.join()
    assert os.listdir(tmp_path) == ["a.safetensors"]
