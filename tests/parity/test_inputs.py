"""Inputs: shapes, types, ranges, files, and how they become a call."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

from migrate.errors import RequestError
from migrate.parity.request import inputs


def test_the_seed_decides_the_values() -> None:
    spec = inputs.parse("2,3")
    first, again, other = (inputs.draw([spec], seed)["0"] for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert first.dtype == np.float32 and first.shape == (2, 3)


def test_two_inputs_of_one_shape_differ() -> None:
    drawn = inputs.draw([inputs.parse("4"), inputs.parse("4")], 0)
    assert not np.array_equal(drawn["0"], drawn["1"])


def test_integers_stay_in_their_range() -> None:
    drawn = inputs.draw([inputs.parse("500:int64:3:7")], 0)["0"]
    assert drawn.dtype == np.int64 and set(np.unique(drawn)) == {3, 4, 5, 6}


def test_floats_with_a_range_are_uniform_and_bools_are_bools() -> None:
    drawn = inputs.draw([inputs.parse("x=100:float32:0:1"), inputs.parse("mask=100:bool")], 0)
    assert drawn["x"].min() >= 0 and drawn["x"].max() <= 1
    assert drawn["mask"].dtype == np.bool_ and 0 < drawn["mask"].sum() < 100


def test_files_are_read(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.arange(3))
    np.savez(tmp_path / "two.npz", np.zeros(1), mask=np.ones(2))
    drawn = inputs.draw([inputs.parse(str(tmp_path / "two.npz"))], 0)
    assert set(drawn) == {"0", "mask"}
    named = inputs.draw([inputs.parse(f"ids={tmp_path / 'one.npy'}")], 0)
    assert named["ids"].tolist() == [0, 1, 2]


def test_a_pickled_array_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "bad.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(RequestError, match="cannot read arrays"):
        inputs.draw([inputs.parse(str(tmp_path / "bad.npy"))], 0)


@pytest.mark.parametrize(
    "text", ["", "8,three", "8:int64", "8:int64:5", "8:int64:5:5", "8:complex64", "-1,2", "no.npz"]
)
def test_what_cannot_be_an_input_is_refused(text: str) -> None:
    with pytest.raises(RequestError):
        inputs.parse(text)


def test_names_become_positions_keywords_and_dicts() -> None:
    args, kwargs = inputs.arguments({"1": "b", "0": "a", "mask": "m", "batch.x.y": 1, "batch.z": 2})
    assert args == ["a", "b"]
    assert kwargs == {"mask": "m", "batch": {"x": {"y": 1}, "z": 2}}


def test_outputs_of_any_nesting_are_flattened_in_order() -> None:
    Pair = namedtuple("Pair", "left right")
    value = {"a": [1, (2, None)], "p": Pair(3, "text")}
    found = inputs.flatten(value, lambda item: isinstance(item, int))
    assert found == [("['a'][0]", 1), ("['a'][1][0]", 2), ("['p'].left", 3)]
