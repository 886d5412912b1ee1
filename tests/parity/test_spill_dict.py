"""A record is written and read back one array at a time, also where memory would not hold it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch

from migrate.parity.torch_side.spilled_tensors import Tensors
from migrate.parity.workers import record, spill_dict
from migrate.parity.workers.spill_dict import Adapted, SpillDict

ARRAYS = {
    "wide": np.arange(12, dtype=np.float64).reshape(3, 4),
    "turned": np.arange(12, dtype=np.float32).reshape(3, 4).T,
    "half": np.array([1.5, -2.0], np.float16),
    "flags": np.array([True, False, True]),
    "counts": np.array([-1, 2**40]),
    "small": np.array([7], np.uint8),
    "none": np.zeros((0, 3), np.float32),
    "number": np.float32(2.5).reshape(()),
}


@pytest.mark.parametrize("room", [0, 60, 10_000])
def test_a_shelf_gives_back_what_it_got(room: int) -> None:
    kept = SpillDict(in_memory=room)
    for name, array in ARRAYS.items():
        kept[name] = array
    kept["half"] = ARRAYS["half"] * 2
    assert set(kept) == set(ARRAYS) and len(kept) == len(ARRAYS)
    for name, array in ARRAYS.items():
        wanted = array * 2 if name == "half" else array
        assert kept[name].dtype == array.dtype and kept[name].shape == array.shape
        np.testing.assert_array_equal(kept[name], wanted)
    del kept["wide"]
    assert "wide" not in kept


def test_beyond_its_room_a_shelf_holds_nothing_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    unnamed = tempfile.TemporaryFile

    def noted() -> object:
        opened.append(1)
        return unnamed()

    monkeypatch.setattr(spill_dict.tempfile, "TemporaryFile", noted)
    kept = SpillDict(in_memory=8)
    kept["fits"] = np.zeros(2, np.float32)
    assert not opened
    kept["does not"] = np.ones(2, np.float32)
    assert opened
    assert kept["does not"] is not kept["does not"]  # read anew each time


def test_tensors_are_copies() -> None:
    weight = torch.ones(3)
    kept = Tensors({"w": weight, "b": torch.ones(2, dtype=torch.bfloat16)})
    weight.zero_()
    assert kept["w"].tolist() == [1, 1, 1]
    assert kept["b"].dtype == torch.float32


def test_a_part_is_safetensors(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    record.write_part(tmp_path, "run", {}, Adapted(ARRAYS, lambda name, array: array))
    read = load_file(tmp_path / "run.safetensors")
    assert set(read) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert read[name].dtype == array.dtype
        assert read[name].shape == (array.shape or (1,))  # a record holds a number as one of one
        np.testing.assert_array_equal(read[name], array.reshape(read[name].shape))
    counts = record.Tensors(tmp_path / "run.safetensors")
    assert [counts.count(name) for name in ("wide", "none", "number")] == [12, 0, 1]
