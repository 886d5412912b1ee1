"""Do two results agree? Structure, shape, dtype, then values, with the first reason why not."""

from __future__ import annotations

from typing import Any

# torch.testing's own float32 bound is 1.3e-6 of the value plus 1e-5; kernels that are written
# independently differ by some ten roundings more, and gradients accumulate.
_BOUNDS = {
    "float64": (1e-7, 1e-7),
    "float32": (2e-5, 1e-5),
    "float16": (4e-3, 1e-3),
    "bfloat16": (2e-2, 1e-2),
    "complex64": (2e-5, 1e-5),
    "complex128": (1e-7, 1e-7),
}
_GRADIENT_SLACK = 5.0
# Some kernels are rational approximations: within this multiple of the bound results still agree,
# and the record says how far off they are.
_LOOSE = 20.0
_ENOUGH = 2000  # random values that make a distribution
_NAMES = {"bool_": "bool"}


def dtype_name(dtype: Any) -> str:
    """`torch.float32`, `Float32` and numpy's float32 are one name."""
    name = str(dtype).rpartition(".")[2].lower()
    return _NAMES.get(name, name)


def flat(value: Any) -> list[Any]:
    """The leaves of tuples, lists and dicts; both frameworks' named tuples are tuples."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in flat(item)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


def difference(
    expected: Any,
    actual: Any,
    *,
    values: bool = True,
    gradient: bool = False,
    slack: float = 1.0,
) -> str:
    """Why these results (torch's; MindSpore's brought to torch) disagree; empty when they agree."""
    ours, theirs = flat(actual), flat(expected)
    if len(ours) != len(theirs):
        return f"gives {len(ours)} results, torch {len(theirs)}"
    for place, (left, right) in enumerate(zip(theirs, ours, strict=True)):
        reason = _leaf(left, right, values, gradient, slack)
        if reason:
            return f"result {place}: {reason}" if len(theirs) > 1 else reason
    return ""


def judged(expected: Any, actual: Any, *, values: bool = True, gradient: bool = False) -> str:
    """`agrees`, `agrees: roughly, ...` or `disagrees: ...`."""
    reason = difference(expected, actual, values=values, gradient=gradient)
    if not reason:
        return "agrees"
    if values and not difference(expected, actual, gradient=gradient, slack=_LOOSE):
        return f"agrees: roughly, {reason}"
    return f"disagrees: {reason}"


def _leaf(expected: Any, actual: Any, values: bool, gradient: bool, slack: float) -> str:
    import torch

    if not isinstance(expected, torch.Tensor):
        return _plain(expected, actual, values)
    if not isinstance(actual, torch.Tensor):
        return f"gives a {type(actual).__name__}, torch a tensor"
    if tuple(expected.shape) != tuple(actual.shape):
        return f"shape {tuple(actual.shape)}, torch {tuple(expected.shape)}"
    if dtype_name(expected.dtype) != dtype_name(actual.dtype) and not gradient:
        return f"dtype {dtype_name(actual.dtype)}, torch {dtype_name(expected.dtype)}"
    if values:
        return _numbers(expected, actual, gradient, slack)
    return _distribution(expected, actual, slack)


def _plain(expected: Any, actual: Any, values: bool) -> str:
    import torch

    if isinstance(actual, torch.Tensor):
        if isinstance(expected, (bool, int, float, complex)) and actual.numel() == 1:
            actual = actual.item()
        else:
            return f"gives a tensor, torch {expected!r}"
    if dtype_name(expected) == dtype_name(actual):
        return ""
    if isinstance(expected, float) and isinstance(actual, (int, float)):
        same = abs(expected - actual) <= 1e-5 + 2e-5 * abs(expected) or expected != expected
        return "" if same or not values else f"{actual!r}, torch {expected!r}"
    return "" if expected == actual or not values else f"{actual!r}, torch {expected!r}"


def _numbers(expected: Any, actual: Any, gradient: bool, slack: float) -> str:
    import torch

    name = dtype_name(expected.dtype)
    bound = _BOUNDS.get(name)
    wide = torch.complex128 if expected.is_complex() else torch.float64
    left, right = expected.detach().resolve_conj().to(wide), actual.detach().to(wide)
    if bound is None:
        wrong = left != right
        return _said(left, right, wrong, 0.0) if bool(wrong.any()) else ""
    slack *= _GRADIENT_SLACK if gradient else 1.0
    relative, absolute = (part * slack for part in bound)
    # Sums of large terms carry the rounding of the terms, not of the sum.
    finite = left[torch.isfinite(left)]
    scale = max(1.0, float(finite.abs().max()) if finite.numel() else 1.0)
    limit = absolute * (scale**0.5 if not gradient else scale) + relative * left.abs()
    both = torch.isfinite(left) & torch.isfinite(right)
    wrong = both & ((left - right).abs() > limit)
    special = ~both
    same = (torch.isnan(left) & torch.isnan(right)) | (left == right)
    wrong |= special & ~same
    return _said(left, right, wrong, float(absolute)) if bool(wrong.any()) else ""


def _distribution(expected: Any, actual: Any, slack: float) -> str:
    """Random values: the two-sample Kolmogorov-Smirnov statistic, where there are enough."""
    import torch

    if expected.numel() < _ENOUGH or expected.is_complex():
        return ""
    left = expected.detach().flatten().double().sort().values
    right = actual.detach().flatten().double().sort().values
    every = torch.cat([left, right]).sort().values
    below = [torch.searchsorted(part, every, right=True) / part.numel() for part in (left, right)]
    gap = float((below[0] - below[1]).abs().max())
    # Beyond this bound equal distributions come once in ten million times.
    limit = 2.9 * slack * (2 / left.numel()) ** 0.5
    return (
        f"another distribution (Kolmogorov-Smirnov {gap:.3f}, bound {limit:.3f})"
        if gap > limit
        else ""
    )


def _said(left: Any, right: Any, wrong: Any, bound: float) -> str:
    """How many, how large, where: a person should know at once whether it is noise."""
    import torch

    gap = torch.nan_to_num((left - right).abs(), nan=float("inf"))
    gap = torch.where(wrong, gap, torch.zeros_like(gap))
    where = int(gap.flatten().argmax()) if gap.numel() else 0
    a, b = left.flatten()[where].item(), right.flatten()[where].item()
    count = int(wrong.sum())
    return f"{count} of {wrong.numel()} differ, {b:.6g} where torch gives {a:.6g}"
