"""torch's interpolate in all its modes, with scale factors, bicubic and antialias."""

import math

import numpy as np
from mindspore import Tensor, ops


def _cubic(distance, a):
    """Keys' cubic kernel; torch uses a = -0.75, with antialias a = -0.5."""
    x = abs(distance)
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def _resize_rows(size_in, size_out, step, mode, align_corners, antialias):
    """For every output position its input positions and their weights."""
    for i in range(size_out):
        if mode.startswith("nearest"):
            shift = 0.5 if mode == "nearest-exact" else 0.0
            yield [(min(int((i + shift) * step), size_in - 1), 1.0)]
        elif mode == "area":
            first, last = i * size_in // size_out, -(-(i + 1) * size_in // size_out)
            yield [(j, 1.0 / (last - first)) for j in range(first, last)]
        elif antialias:
            reach = (2.0 if mode == "bicubic" else 1.0) * max(step, 1.0)
            center, scale = step * (i + 0.5), 1.0 / max(step, 1.0)
            first = max(int(center - reach + 0.5), 0)
            last = min(int(center + reach + 0.5), size_in)
            weights = []
            for j in range(first, last):
                x = (j - center + 0.5) * scale
                weights.append(_cubic(x, -0.5) if mode == "bicubic" else max(0.0, 1.0 - abs(x)))
            yield [(first + k, w / sum(weights)) for k, w in enumerate(weights)]
        else:
            x = step * i if align_corners else step * (i + 0.5) - 0.5
            if mode == "bicubic":
                low = math.floor(x)
                yield [
                    (min(max(low + k, 0), size_in - 1), _cubic(x - low - k, -0.75))
                    for k in (-1, 0, 1, 2)
                ]
            else:
                x = max(x, 0.0)
                low = min(int(x), size_in - 1)
                yield [(low, 1.0 - (x - low)), (min(low + 1, size_in - 1), x - low)]


@ops.constexpr
def _resize_matrix(size_in, size_out, scale, mode, align_corners, antialias):
    """Resizing one axis is a product with this constant matrix of shape (out, in)."""
    if align_corners:
        step = (size_in - 1) / (size_out - 1) if size_out > 1 else 0.0
    else:
        step = 1.0 / scale if scale else size_in / size_out
    matrix = np.zeros((size_out, size_in), np.float32)
    rows = _resize_rows(size_in, size_out, step, mode, align_corners, antialias)
    for i, row in enumerate(rows):
        for j, weight in row:
            matrix[i, j] += weight
    return Tensor(matrix)


def _resize_axis(x, axis, size, scale, mode, align_corners, antialias):
    """Resize one axis of x."""
    matrix = _resize_matrix(x.shape[axis], size, scale, mode, align_corners, antialias)
    moved = ops.matmul(x.swapaxes(axis, -1), matrix.astype(x.dtype).swapaxes(0, 1))
    return moved.swapaxes(axis, -1)


def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """torch's interpolate: MindSpore's operator where the two agree, else one matrix per axis."""
    ndim = input.ndim - 2
    scales = (None,) * ndim
    if size is not None:
        sizes = (size,) * ndim if isinstance(size, int) else tuple(size)
    else:
        factors = (
            scale_factor if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * ndim
        )
        sizes = tuple([int(input.shape[i + 2] * factors[i]) for i in range(ndim)])
        if not recompute_scale_factor and not align_corners:
            for i in range(ndim):
                # The given factor decides the positions even where it does not divide evenly.
                if sizes[i] != input.shape[i + 2] * factors[i]:
                    scales = tuple([float(factor) for factor in factors])
    plain = mode in ("nearest", "linear", "bilinear", "trilinear")
    if plain and scales[0] is None and not antialias:
        return ops.interpolate(input, size=sizes, mode=mode, align_corners=align_corners)
    for i in range(ndim):
        if sizes[i] != input.shape[i + 2] or scales[i] is not None:
            input = _resize_axis(
                input, i + 2, sizes[i], scales[i], mode, bool(align_corners), antialias
            )
    return input
