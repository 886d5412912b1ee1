"""The judgement of one tensor, number by number: which floor counts, and what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from migrate.parity.judge.tolerance import Tolerance, judge

ONE = np.ones(4, np.float32)
UNIT = 4 * 2.0**-23


def off(amount: float) -> np.ndarray:
    """ONE with an error in its first element."""
    return ONE.astype(np.float64) + np.array([amount, 0, 0, 0])


def test_the_ratio_is_the_error_in_units_of_the_floor() -> None:
    by_distance = judge(ONE, off(3e-3), [1e-3, 1.0], Tolerance(factor=10.0))
    assert by_distance.ok and by_distance.problem == "" and by_distance.mismatched == 0
    assert by_distance.ratio == pytest.approx(3.0)
    assert by_distance.floor == pytest.approx(1e-3 / 2)  # of a truth whose norm is 2
    by_element = judge(ONE, off(3e-3), [1.0, 1e-3], Tolerance(factor=10.0))
    assert by_element.ratio == pytest.approx(3.0)


def test_the_factor_itself_is_still_allowed() -> None:
    wrong = np.array([1.0, 0, 0, 0])
    assert judge(np.zeros(4), wrong, [0.25, 0.25], Tolerance(factor=4.0)).ok
    found = judge(np.zeros(4), wrong, [0.25, 0.25], Tolerance(factor=3.9))
    assert not found.ok and found.mismatched == 1
    assert found.problem == "is 4 times the noise floor away (allowed 3.9)"
    assert found.floor == 0.0  # relative to nothing


def test_a_floor_below_the_units_in_the_last_place_is_raised_to_them() -> None:
    for floor in (None, [0.0, 0.0], [1e-12, 1e-12]):
        found = judge(ONE, off(8 * UNIT), floor, Tolerance(factor=5.0))
        # The distance is 8 units against 1 unit of a norm of 2; one element may be twice as far.
        assert found.ok and found.ratio == pytest.approx(4.0)
    spread = judge(ONE, ONE.astype(np.float64) + 6 * UNIT, None, Tolerance(factor=7.0))
    assert spread.ratio == pytest.approx(6.0)


@pytest.mark.parametrize(("amp", "unit"), [("O0", UNIT), ("O1", 2.0**-10), ("O2", 2.0**-10)])
def test_the_unit_of_a_precision(amp: str, unit: float) -> None:
    found = judge(ONE, ONE.astype(np.float64) + unit, None, Tolerance(factor=2.0, amp=amp))
    assert found.ratio == pytest.approx(1.0) and found.floor == pytest.approx(unit)


def test_what_an_update_is_known_to_counts_where_it_is_more() -> None:
    found = judge(ONE, ONE.astype(np.float64) + 0.5, None, Tolerance(factor=2.0), least=0.25)
    assert found.ratio == pytest.approx(2.0) and found.ok
    assert judge(ONE, off(UNIT), None, Tolerance(), least=UNIT / 100).ratio == pytest.approx(0.5)


def test_shapes() -> None:
    assert judge(ONE.reshape(4, 1), ONE, None, Tolerance(), same_shape=False).ok
    found = judge(ONE.reshape(4, 1), ONE, None, Tolerance())
    assert not found.ok and found.problem == "has shape [4], torch's has [4, 1]"
    assert found.ratio == math.inf
    assert not judge(ONE.reshape(2, 2), ONE, None, Tolerance(), same_shape=False).ok
    empty = judge(np.zeros((0, 3)), np.zeros((0, 3)), None, Tolerance())
    assert empty.ok and empty.ratio == 0.0
    missing = judge(ONE, None, None, Tolerance())
    assert not missing.ok and missing.ratio == math.inf
    assert missing.problem == "is missing on the MindSpore side"


def test_infinities() -> None:
    other = ONE.copy()
    other[2:] = np.inf
    found = judge(ONE, other, [1e9, 1e9], Tolerance())
    assert not found.ok and found.ratio == math.inf and found.measures is not None
    said = "2 of 4 elements are NaN, infinite or a mask (1e30 and more) on one side only"
    assert found.problem == f"{said}, first at [2]"


def test_integers_and_truth_values_are_exact() -> None:
    truth = np.array([1, 2, 3])
    assert judge(truth, truth, None, Tolerance(rtol=1.0)).ratio == 0.0
    found = judge(truth, np.array([1, 5, 4]), [9.0, 9.0], Tolerance(rtol=9.0))
    assert not found.ok and found.ratio == math.inf and found.mismatched == 2
    assert found.problem == "2 of 3 elements differ"
    assert not judge(ONE, ONE.astype(int) + 1, [9.0, 9.0], Tolerance()).ok


def test_fixed_bounds() -> None:
    found = judge(2 * ONE, 2 * off(0.05), [9.0, 9.0], Tolerance(rtol=0.01, atol=0.03))
    assert not found.ok and found.mismatched == 1
    assert found.ratio == pytest.approx(0.1 / 0.05)
    assert found.problem == "1 of 4 elements exceed atol 0.03 + rtol 0.01"
    assert judge(2 * ONE, 2 * off(0.05), None, Tolerance(rtol=0.05, atol=0.001)).problem == ""
    assert judge(ONE, ONE, None, Tolerance(rtol=0.0)).ratio == 0.0
    assert judge(ONE, off(0.2), None, Tolerance(atol=0.25)).ok
    assert not judge(ONE, off(0.2), None, Tolerance(rtol=0.1)).ok


def test_the_largest_number_of_a_type_is_a_mask_whatever_its_size() -> None:
    """-torch.finfo(x.dtype).max is another number in float64 than in float32."""
    truth = np.array([1.0, -3.4e38, 2.0, -3.4e38], dtype=np.float32)
    other = np.array([1.0, -1.7e38, 2.0, -3.4e38], dtype=np.float32)
    assert judge(truth, other, None, Tolerance()).ok
    assert judge(truth, other, None, Tolerance(rtol=1e-5)).ok
    # Beside a mask the other elements still count, and a mask is not an infinity.
    wrong = other.copy()
    wrong[0] = 1.1
    assert not judge(truth, wrong, None, Tolerance()).ok
    wrong = other.copy()
    wrong[1] = -np.inf
    assert "1 of 4 elements are NaN" in judge(truth, wrong, None, Tolerance()).problem
    wrong[1] = 1.7e38
    assert not judge(truth, wrong, None, Tolerance()).ok


def test_a_judgement_is_true_or_false_and_carries_its_measures() -> None:
    missing = judge(ONE, None, None, Tolerance())
    shaped = judge(ONE, np.ones(3, np.float32), None, Tolerance())
    nan = judge(ONE, np.full(4, np.nan), None, Tolerance())
    far = judge(ONE, off(1.0), None, Tolerance())
    assert [one.ok for one in (missing, shaped, nan, far)] == [False] * 4
    for found in (judge(ONE, off(UNIT), None, Tolerance()), far):
        assert found.measures is not None and found.measures.max_abs > 0
        assert found.measures.other_mean == pytest.approx(1 + found.measures.max_abs / 4)
    brief = judge(ONE, off(1.0), None, Tolerance(), full=False)
    assert brief.measures is not None and brief.measures.other_mean == 0.0
    whole = judge(np.arange(3), np.arange(3), None, Tolerance())
    assert (whole.problem, whole.floor, whole.ratio) == ("", 0.0, 0.0)
    assert whole.measures is not None and whole.measures.size == 3


def test_one_element_may_be_twice_as_far_as_the_distance_allows() -> None:
    large = np.ones(10_000, np.float32)
    other = large.astype(np.float64)
    other[7] += 6 * UNIT
    assert judge(large, other, None, Tolerance()).ratio == pytest.approx(3.0)


def test_fixed_bounds_element_by_element() -> None:
    truth = np.array([1.0, 100.0, 0.0, 1e30, 1e30], np.float32)
    other = np.array([1.5, 101.0, 0.25, 3e38, 1e30], np.float32)
    found = judge(truth, other, None, Tolerance(atol=0.5))
    assert not found.ok and found.mismatched == 1 and found.ratio == pytest.approx(2.0)
    assert (found.floor, found.measures is not None) == (0.0, True)
    assert "exceed atol 0.5 + rtol 0" in found.problem
    assert judge(truth, other, None, Tolerance(atol=0.5, rtol=0.01)).ok
    assert judge(truth, truth.copy(), None, Tolerance(atol=0.0, rtol=0.0)).ratio == 0.0
    half = np.array([200.0], np.float16), np.array([60000.0], np.float16)
    assert judge(*half, None, Tolerance(atol=1.0)).ratio == pytest.approx(59800.0)
