"""Measures and judgements, against numbers worked out by hand or by plain numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from migrate.parity.judge.compare import _Judge, resolution
from migrate.parity.judge.metrics import measure, mismatches
from migrate.parity.judge.tolerance import FACTOR, Tolerance, judge


def test_measures_agree_with_plain_numpy_over_several_pieces() -> None:
    random = np.random.default_rng(0)
    truth = random.standard_normal((7, 30000)).astype(np.float32)
    other = truth + random.standard_normal(truth.shape).astype(np.float32) * 1e-3
    found = measure(truth, other)
    a, b = truth.astype(np.float64).ravel(), other.astype(np.float64).ravel()
    error = np.abs(a - b)
    assert found.relative_euclidean == pytest.approx(np.linalg.norm(a - b) / np.linalg.norm(a))
    assert found.cosine == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    assert found.max_abs == error.max()
    assert truth[found.max_index] == truth.ravel()[error.argmax()]
    assert found.mean_relative == pytest.approx((error / np.abs(a)).mean())
    assert found.accumulated_relative == pytest.approx(error.sum() / np.abs(a).sum())
    assert found.truth_std == pytest.approx(a.std()) and found.other_mean == pytest.approx(b.mean())
    assert found.truth_mean == pytest.approx(a.mean()) and found.other_std == pytest.approx(b.std())
    p, q = np.abs(a) / np.abs(a).sum(), np.abs(b) / np.abs(b).sum()
    assert found.kl_divergence == pytest.approx((p * np.log(p / q)).sum(), rel=1e-2)


def test_unlike_tensors_by_hand() -> None:
    found = measure(np.array([3.0, -4.0, 0.0]), np.array([4.0, 3.0, 1.0]))
    assert found.cosine == pytest.approx(0.0) and found.truth_max == 4.0
    assert (found.max_abs, found.max_index) == (7.0, (1,))
    assert found.mean_relative == pytest.approx((1 / 3 + 7 / 4) / 2)  # not of the zero
    assert found.accumulated_relative == pytest.approx(9 / 7)
    assert (found.truth_mean, found.other_mean) == pytest.approx((-1 / 3, 8 / 3))
    assert found.other_std == pytest.approx(np.std([4.0, 3.0, 1.0]))
    opposite = measure(np.array([1.0, 2.0]), np.array([-1.0, -2.0]))
    assert opposite.cosine == pytest.approx(-1.0) and opposite.kl_divergence == 0.0


def test_nothing_to_measure_against() -> None:
    found = measure(np.zeros(3), np.array([0.0, 2.0, 0.0]))
    assert (found.cosine, found.relative_euclidean, found.accumulated_relative) == (
        *(0.0, math.inf, math.inf),
    )
    assert (found.mean_relative, found.kl_divergence, found.truth_max) == (0.0, 0.0, 0.0)
    assert found.to_json()["relative_euclidean"] is None and found.to_json()["max_abs"] == 2.0
    none = measure(np.zeros(3), np.zeros(3))
    assert (none.relative_euclidean, none.accumulated_relative, none.max_index) == (0.0, 0.0, (0,))
    one = measure(np.float32(2.0), np.float32(3.0))
    assert (one.size, one.max_index, one.truth_mean, one.other_std) == (1, (), 2.0, 0.0)
    assert measure(np.zeros((0, 2)), np.zeros((0, 2))).max_index == ()


@pytest.mark.filterwarnings("error")
def test_what_is_left_out_of_the_sums() -> None:
    """Masks, infinities and NaN of both sides count for nothing; of one side, they are named."""
    truth = np.array([1.0, 1e30, np.inf, np.nan, -3e38, 3.0])
    other = np.array([2.0, 3e38, np.inf, np.nan, -1e30, 3.0])
    found = measure(truth, other)
    assert (found.nonfinite_mismatches, found.nonfinite_index, found.size) == (0, None, 6)
    assert (found.max_abs, found.truth_mean, found.other_mean) == (1.0, 2.0, 2.5)
    assert mismatches(truth, other, 0.0) == 1 and mismatches(truth, other, 1.0) == 0
    for wrong in (np.array([1e30, 1.0]), np.array([-1e30, 1.0]), np.array([np.nan, 1.0])):
        for pair in ((np.array([1.0, 1.0]), wrong), (wrong, np.array([1.0, 1.0]))):
            assert measure(*pair).nonfinite_mismatches == 1
            assert measure(*pair).nonfinite_index == (0,)
            assert mismatches(*pair, 0.5) == 1
    assert measure(np.array([1e30]), np.array([-1e30])).nonfinite_mismatches == 1


def test_the_first_of_many_pieces_is_named() -> None:
    truth = np.ones(100_000, np.float32)
    other = truth.copy()
    other[[40_000, 40_001, 90_000]] = np.inf
    found = measure(truth, other)
    assert (found.nonfinite_mismatches, found.nonfinite_index) == (3, (40_000,))
    assert (found.truth_mean, found.other_mean) == (1.0, 1.0)
    twice = np.zeros(70_000)
    twice[[10, 50_000]] = 5.0
    assert measure(np.zeros(70_000), twice).max_index == (10,)


def test_integers_and_half_floats_are_measured_as_doubles() -> None:
    assert measure(np.array([250], np.uint8), np.array([5], np.uint8)).max_abs == 245.0
    small, large = np.array([200.0], np.float16), np.array([60000.0], np.float16)
    assert measure(small, large).error_norm == 59800.0
    assert mismatches(np.array([5], np.uint8), np.array([250], np.uint8), 244.0) == 1
    assert mismatches(np.array([5, 7]), np.array([5, 9]), 2.0) == 0


def test_equal_tensors_have_no_error() -> None:
    found = measure(np.ones(5), np.ones(5))
    assert (found.cosine, found.max_abs, found.kl_divergence) == (1.0, 0.0, 0.0)


def test_a_nan_on_one_side_comes_first() -> None:
    truth, other = np.ones((2, 3)), np.ones((2, 3))
    other[1, 2] = np.nan
    found = judge(truth, other, [10.0, 10.0], Tolerance())
    assert not found.ok and "NaN" in found.problem and "[1, 2]" in found.problem


@pytest.mark.filterwarnings("error")
def test_the_same_infinities_on_both_sides_agree() -> None:
    truth = np.array([1.0, np.inf, np.nan, -np.inf])
    for tolerance in (Tolerance(), Tolerance(rtol=0.1)):
        assert judge(truth, truth.copy(), None, tolerance).ok
    flipped = np.array([1.0, -np.inf, np.nan, -np.inf])
    assert not judge(truth, flipped, None, Tolerance()).ok


def test_the_floor_decides() -> None:
    truth = np.ones(100, np.float32)
    other = truth + np.float32(1e-4)
    assert not judge(truth, other, [1e-5, 1e-6], Tolerance()).ok
    assert judge(truth, other, [1e-3, 1e-4], Tolerance()).ok


def test_without_a_floor_a_few_units_in_the_last_place_are_allowed() -> None:
    truth = np.full(10, 3.0, np.float32)
    assert judge(truth, np.nextafter(truth, np.float32(9)), None, Tolerance()).ok
    assert not judge(truth, truth * np.float32(1 + 1e-5), None, Tolerance()).ok


def test_a_single_wrong_element_is_seen_in_a_large_tensor() -> None:
    truth = np.ones(1_000_000, np.float32)
    other = truth.copy()
    other[123_456] = 1.01
    found = judge(truth, other, [1e-2, 1e-6], Tolerance())
    assert not found.ok and found.mismatched == 1
    assert found.measures is not None and found.measures.max_index == (123_456,)


def test_fixed_tolerances_replace_the_floor() -> None:
    truth, other = np.ones(4), np.array([1, 1, 1, 1.05])
    assert judge(truth, other, None, Tolerance(rtol=0.1)).ok
    failed = judge(truth, other, [9.0, 9.0], Tolerance(rtol=0.01, atol=0.0))
    assert not failed.ok and failed.mismatched == 1


def test_integers_must_be_equal() -> None:
    assert judge(np.arange(3), np.arange(3), None, Tolerance()).ok
    assert not judge(np.arange(3), np.array([0, 1, 3]), None, Tolerance()).ok


def test_missing_and_misshapen_tensors_differ() -> None:
    assert "missing" in judge(np.ones(2), None, None, Tolerance()).problem
    assert "shape" in judge(np.ones(2), np.ones(3), None, Tolerance()).problem
    assert not judge(np.ones((2, 1)), np.ones(2), None, Tolerance()).ok
    assert judge(np.ones((2, 1)), np.ones(2), None, Tolerance(), same_shape=False).ok


def test_a_zero_truth_with_a_zero_floor_allows_nothing() -> None:
    assert judge(np.zeros(3), np.zeros(3), None, Tolerance()).ok
    found = judge(np.zeros(3), np.full(3, 1e-12), [0.0, 0.0], Tolerance())
    assert not found.ok and math.isinf(found.ratio)


def test_mismatches_counts_nan_against_a_number() -> None:
    assert mismatches(np.array([1.0, np.nan]), np.array([1.0, 1.0]), 0.5) == 1


def test_the_factor_is_the_documented_one() -> None:
    assert FACTOR == 10.0


class _Record:
    """As much of a recorded step as a judge looks at."""

    def __init__(self, **tensors: np.ndarray) -> None:
        self.tensors = self.given = {key.replace("_", ":"): value for key, value in tensors.items()}
        self.run = {"floors": {"update:w": [0.0, 0.0], "gradient:w": [0.0, 0.0]}}


def test_an_update_is_known_to_half_a_unit_of_its_parameter() -> None:
    """A step too small for float32 moves a parameter by a unit on one side and not on the other."""
    weight, none = np.full(4, 0.5, np.float32), np.zeros(4, np.float32)
    moved = none + np.float32(2.0**-24)
    ours = _Record(weight_w=weight, update_w=none, gradient_w=none)
    theirs = _Record(update_w=moved, gradient_w=moved)
    judged = _Judge(ours, theirs, Tolerance())
    assert judged("update:w", "update:w").ok and judged("update:w", "update:w").ratio == 2.0
    assert not judged("gradient:w", "gradient:w").ok
    assert resolution(weight) == [2.0**-24, 2.0**-25]
