"""When is a difference a fault? When it is larger than what float32 itself does to the same tensor.

The torch worker runs the step in float64 once (the truth) and in float32 several times, each
time but the first with the weights moved by about one unit in the last place. The largest error
of those runs is the tensor's floor. MindSpore may be FACTOR times that far from the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from migrate.parity.judge.matching import squeezed
from migrate.parity.judge.metrics import MASK, Array, Measures, measure, mismatches
from migrate.parity.request.limits import FACTOR, Tolerance

__all__ = ["FACTOR", "Judgement", "Tolerance", "judge"]

# A tensor that torch happens to compute exactly still has a floor: four units in the last place
# of its size, twice that at a single element, since MindSpore's exp on CPU, and what is made of
# it, is off by up to 4.5e-6 of its value.
_UNITS = {"O0": 4 * 2.0**-23, "O1": 2.0**-10, "O2": 2.0**-10, "O3": 2.0**-10}


@dataclass(frozen=True)
class Judgement:
    """One tensor compared: `ratio` is its error in units of what is allowed noise (1 is the
    floor).
    """

    ok: bool
    ratio: float
    problem: str = ""
    measures: Measures | None = None
    # The floor as a relative Euclidean distance, to be drawn beside the error.
    floor: float = 0.0
    mismatched: int = 0


def judge(
    truth: Array,
    other: Array | None,
    floor: list[float] | None,
    tolerance: Tolerance,
    *,
    full: bool = True,
    same_shape: bool = True,
    least: float = 0.0,
) -> Judgement:
    """Compare one tensor with its truth."""
    if other is None:
        return Judgement(False, inf, "is missing on the MindSpore side")
    if not same_shape and squeezed(truth.shape) == squeezed(other.shape):
        other = other.reshape(truth.shape)
    if truth.shape != other.shape:
        return Judgement(
            False, inf, f"has shape {list(other.shape)}, torch's has {list(truth.shape)}"
        )
    if not truth.size:
        return Judgement(True, 0.0)
    if truth.dtype.kind != "f" or other.dtype.kind != "f":
        return _judge_exact(truth, other)
    measures = measure(truth, other, full=full)
    if measures.nonfinite_mismatches:
        word = (
            f"{measures.nonfinite_mismatches} of {measures.size} elements are NaN, infinite or a "
            "mask (1e30 and more) on one side only"
        )
        return Judgement(
            False, inf, f"{word}, first at {list(measures.nonfinite_index or ())}", measures
        )
    if tolerance.fixed:
        return _judge_fixed(truth, other, measures, tolerance)
    unit = max(_UNITS[tolerance.amp], least)
    distance = max(floor[0] if floor else 0.0, unit * measures.truth_norm)
    largest = max(floor[1] if floor else 0.0, 2 * unit * measures.truth_max)
    ratio = max(_over(measures.error_norm, distance), _over(measures.max_abs, largest))
    relative = distance / measures.truth_norm if measures.truth_norm else 0.0
    if ratio <= tolerance.factor:
        return Judgement(True, ratio, "", measures, relative)
    wrong = mismatches(truth, other, tolerance.factor * largest)
    problem = f"is {ratio:.3g} times the noise floor away (allowed {tolerance.factor:g})"
    return Judgement(False, ratio, problem, measures, relative, wrong)


def _judge_exact(truth: Array, other: Array) -> Judgement:
    wrong = mismatches(truth, other, 0.0)
    problem = f"{wrong} of {truth.size} elements differ" if wrong else ""
    return Judgement(not wrong, inf if wrong else 0.0, problem, measure(truth, other), 0.0, wrong)


def _judge_fixed(truth: Array, other: Array, measures: Measures, tolerance: Tolerance) -> Judgement:
    rtol, atol = tolerance.rtol or 0.0, tolerance.atol or 0.0
    bound = atol + rtol * np.abs(truth.astype(np.float64))
    wrong = mismatches(truth, other, bound)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.abs(other.astype(np.float64) - truth.astype(np.float64))
        huge = (np.abs(truth) >= MASK) & (np.abs(other) >= MASK)
        ratio = float(np.nanmax(np.where((error == 0) | huge, 0.0, error / bound)))
    problem = (
        f"{wrong} of {truth.size} elements exceed atol {atol:g} + rtol {rtol:g}" if wrong else ""
    )
    return Judgement(not wrong, ratio, problem, measures, 0.0, wrong)


def _over(error: float, floor: float) -> float:
    return error / floor if floor else (inf if error else 0.0)
