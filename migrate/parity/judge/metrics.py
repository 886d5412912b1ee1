"""How far apart two tensors are, in the measures that Ascend users know; NaN and Inf come first."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"

# Elements taken at a time: float64 copies of a piece stay in the processor's cache.
_PIECE = 1 << 15
# From here on a number is a mask (`torch.finfo(x.dtype).min`): it says "not this one", its size
# depends on the type and not on the computation, and beside it no error would count.
MASK = 1e30


@dataclass(frozen=True)
class Measures:
    """All measures of one tensor against its truth; definitions are in docs/parity.md."""

    size: int
    cosine: float
    max_abs: float
    max_index: tuple[int, ...]
    mean_relative: float
    accumulated_relative: float
    relative_euclidean: float
    kl_divergence: float
    truth_mean: float
    truth_std: float
    other_mean: float
    other_std: float
    error_norm: float
    truth_norm: float
    truth_max: float
    # Elements that are NaN, infinite or a mask on one side and not so on the other, and the first
    # of them.
    nonfinite_mismatches: int
    nonfinite_index: tuple[int, ...] | None

    def to_json(self) -> dict[str, Any]:
        return {
            key: (None if isinstance(value, float) and not math.isfinite(value) else value)
            for key, value in asdict(self).items()
        }


class _Sums:
    """Running sums over pieces."""

    def __init__(self) -> None:
        self.truth = self.other = self.truth_sq = self.other_sq = self.product = 0.0
        self.error_abs = self.error_sq = self.relative = self.truth_abs = self.other_abs = 0.0
        self.divergence, self.nonzero = 0.0, 0
        self.max_abs, self.max_at, self.truth_max = 0.0, 0, 0.0

    def add(self, truth: Array, other: Array, offset: int, *, full: bool) -> None:
        error = other - truth
        self.error_sq += _dot(error, error)
        self.truth_sq += _dot(truth, truth)
        np.abs(error, out=error)
        at = int(error.argmax())
        if error[at] > self.max_abs:
            self.max_abs, self.max_at = float(error[at]), offset + at
        magnitude = np.abs(truth)
        self.truth_max = max(self.truth_max, float(magnitude.max()))
        if not full:
            return
        others = np.abs(other)
        self.truth += float(truth.sum())
        self.other += float(other.sum())
        self.other_sq += _dot(other, other)
        self.product += _dot(truth, other)
        self.error_abs += float(error.sum())
        self.truth_abs += float(magnitude.sum())
        self.other_abs += float(others.sum())
        # The logarithm of a ratio, in float32: fast, and exact enough for a divergence.
        ratio = ((magnitude + 1e-30) / (others + 1e-30)).clip(1e-30, 1e30)
        self.divergence += _dot(magnitude, np.log(ratio.astype(np.float32)))
        known = magnitude > 0
        self.relative += float((error[known] / magnitude[known]).sum())
        self.nonzero += int(known.sum())


def _dot(a: Array, b: Array) -> float:
    """A dot product without BLAS, whose threads would wait for cores that the workers use."""
    return float(np.einsum("i,i->", a, b))


def measure(truth: Array, other: Array, *, full: bool = True) -> Measures:
    """Measure two tensors of one shape.

    Elements that are not finite, or masks, on both sides are left out of the sums. Without `full`,
    only what a judgement needs is computed: the error, its place, and torch's size.
    """
    flat, others = truth.reshape(-1), other.reshape(-1)
    sums, count, mismatches, first = _Sums(), 0, 0, -1
    for offset in range(0, flat.size, _PIECE):
        a = flat[offset : offset + _PIECE].astype(np.float64)
        b = others[offset : offset + _PIECE].astype(np.float64)
        count += a.size
        # A sum is small only if all its terms are finite and no mask is among them; looking at
        # each is the exception.
        if not np.abs(a).sum() + np.abs(b).sum() < MASK:
            finite = (np.abs(a) < MASK) & (np.abs(b) < MASK)
            masks = np.isfinite(a) & np.isfinite(b) & (np.sign(a) == np.sign(b))
            masks &= (np.abs(a) >= MASK) & (np.abs(b) >= MASK)
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | finite | masks
            wrong = np.flatnonzero(~same)
            mismatches += wrong.size
            if wrong.size and first < 0:
                first = offset + int(wrong[0])
            a, b = np.where(finite, a, 0.0), np.where(finite, b, 0.0)
            count -= int((~finite).sum())
        sums.add(a, b, offset, full=full)
    return _finish(sums, count, truth.shape, mismatches, first)


def _finish(
    sums: _Sums, count: int, shape: tuple[int, ...], mismatches: int, first: int
) -> Measures:
    many = max(count, 1)
    truth_norm, other_norm = math.sqrt(sums.truth_sq), math.sqrt(sums.other_sq)
    error_norm = math.sqrt(sums.error_sq)
    norms = truth_norm * other_norm
    divergence = 0.0
    if sums.truth_abs and sums.other_abs:
        # KL of the magnitudes, each side scaled to sum to one.
        divergence = sums.divergence / sums.truth_abs + math.log(sums.other_abs / sums.truth_abs)
    return Measures(
        size=int(np.prod(shape)),
        cosine=1.0 if not error_norm else (min(1.0, sums.product / norms) if norms else 0.0),
        max_abs=sums.max_abs,
        max_index=_index(sums.max_at, shape),
        mean_relative=sums.relative / max(sums.nonzero, 1),
        accumulated_relative=_ratio(sums.error_abs, sums.truth_abs),
        relative_euclidean=_ratio(error_norm, truth_norm),
        kl_divergence=max(0.0, divergence),
        truth_mean=sums.truth / many,
        truth_std=math.sqrt(max(0.0, sums.truth_sq / many - (sums.truth / many) ** 2)),
        other_mean=sums.other / many,
        other_std=math.sqrt(max(0.0, sums.other_sq / many - (sums.other / many) ** 2)),
        error_norm=error_norm,
        truth_norm=truth_norm,
        truth_max=sums.truth_max,
        nonfinite_mismatches=mismatches,
        nonfinite_index=_index(first, shape) if first >= 0 else None,
    )


def mismatches(truth: Array, other: Array, bound: float | Array) -> int:
    """Count the elements further apart than the bound; a NaN against a number counts."""
    with np.errstate(invalid="ignore"):  # equal infinities
        error = np.abs(other.astype(np.float64) - truth.astype(np.float64))
    same = (
        (truth == other) | (np.isnan(truth) & np.isnan(other))
        if truth.dtype.kind == "f"
        else truth == other
    )
    if truth.dtype.kind == "f":
        huge = (np.abs(truth) >= MASK) & (np.abs(other) >= MASK)
        same |= huge & np.isfinite(truth) & np.isfinite(other) & (np.sign(truth) == np.sign(other))
    return int(np.count_nonzero(~((error <= bound) | same)))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else (math.inf if part else 0.0)


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(flat, shape)) if shape and np.prod(shape) else ()
