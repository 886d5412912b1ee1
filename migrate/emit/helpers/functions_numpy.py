"""What numpy and scipy compute for us: PyNative mode only."""

import mindspore
import numpy as np
import scipy.special
from mindspore import ops


def nextafter(input, other):
    """torch's nextafter; ops.nextafter is wrong on CPU."""
    value = mindspore.Tensor(np.nextafter(input.asnumpy(), other.asnumpy()))
    # Zero in value, with the gradient that torch gives.
    change = ops.where(ops.isfinite(input), input - ops.stop_gradient(input), 0.0)
    return value + change.astype(value.dtype)


def airy_ai(input):
    """torch.special.airy_ai."""
    values = input.asnumpy()
    values = values if values.dtype == np.float64 else values.astype(np.float32)
    return mindspore.Tensor(scipy.special.airy(values)[0].astype(values.dtype))


def histogramdd(input, bins, range=None, weight=None, density=False):
    """torch's histogramdd: the counts, and the edges of every dimension."""
    points = input.asnumpy().reshape((-1, input.shape[-1]))
    if isinstance(bins, (int, tuple, list)) and not isinstance(bins, int):
        bins = [b if isinstance(b, int) else b.asnumpy() for b in bins]
    if range is not None:
        range = [(range[i], range[i + 1]) for i in np.arange(0, len(range), 2)]
    elif len(points) == 0:
        range = [(0.0, 1.0)] * input.shape[-1]
    weights = None if weight is None else weight.asnumpy().reshape((-1,))
    counts, edges = np.histogramdd(points, bins, range, density, weights)
    dtype = points.dtype
    return (
        mindspore.Tensor(counts.astype(dtype)),
        [mindspore.Tensor(edge.astype(dtype)) for edge in edges],
    )
