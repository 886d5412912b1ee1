"""Special functions that MindSpore lacks, from those it has."""

import math

import mindspore
from mindspore import ops


def _floating(input):
    """Whole numbers and bool as float32, which is what torch computes with."""
    return input if input.is_floating_point() else input.astype(mindspore.float32)


def entr(input):
    """torch's entr: -x log x, zero at zero, minus infinity below."""
    input = _floating(input)
    value = -xlogy(input, ops.clamp(input, min=0))
    return ops.where(input < 0, float("-inf"), ops.where(input == 0, 0.0, value))


def erfcx(input):
    """torch's erfcx: exp(x^2) erfc(x); a continued fraction where erfc underflows."""
    input = _floating(input)
    small = ops.clamp(input, max=4.0)
    direct = ops.exp(small * small) * ops.erfc(small)
    x = ops.clamp(input, min=4.0)
    tail = x
    for k in range(24, 0, -1):
        tail = x + (k / 2) / tail
    return ops.where(input < 4.0, direct, 1 / (math.sqrt(math.pi) * tail))


def ndtr(input):
    """torch's ndtr: the area under the normal curve."""
    input = _floating(input)
    return 0.5 * ops.erfc(-input * (1 / math.sqrt(2)))


def log_ndtr(input):
    """torch's log_ndtr, exact far below zero too."""
    input = _floating(input)
    low = ops.clamp(input, max=-1.0) * (-1 / math.sqrt(2))
    far = ops.log(0.5 * erfcx(low)) - low * low
    near = ops.log1p(-0.5 * ops.erfc(ops.clamp(input, min=-1.0) * (1 / math.sqrt(2))))
    return ops.where(input < -1.0, far, near)


def ndtri(input):
    """torch's ndtri: the inverse of ndtr."""
    input = _floating(input)
    return math.sqrt(2) * ops.erfinv(2 * input - 1)


def spherical_bessel_j0(input):
    """torch's spherical_bessel_j0: sin(x) / x."""
    input = _floating(input)
    return ops.sinc(input / math.pi)


def xlogy(input, other):
    """torch's xlogy: x log y, zero where x is zero; ops.xlogy gives NaN for 0 log 0 on CPU."""
    if isinstance(other, (int, float)):
        other = mindspore.Tensor(other, mindspore.float32)
    nothing = ops.logical_and(input * ops.ones_like(other) == 0, other <= 0)
    return input * ops.log(ops.where(nothing, 1.0, other))


def xlog1py(input, other):
    """torch's xlog1py: x log(1 + y), zero where x is zero."""
    if isinstance(other, (int, float)):
        other = mindspore.Tensor(other, mindspore.float32)
    if isinstance(input, mindspore.Tensor):
        input = _floating(input)
    other = _floating(other)
    product = input * ops.log1p(other)
    zero = ops.logical_and(input * ops.ones_like(product) == 0, product == product)
    undefined = ops.isnan(other * ops.ones_like(product))
    nothing = ops.logical_and(input * ops.ones_like(product) == 0, ops.logical_not(undefined))
    return ops.where(ops.logical_or(zero, nothing), ops.zeros_like(product), product)


def zeta(input, other):
    """torch's zeta with broadcasting."""
    if isinstance(input, (int, float)):
        input = mindspore.Tensor(input, mindspore.float32)
    if isinstance(other, (int, float)):
        other = mindspore.Tensor(other, mindspore.float32)
    input, other = _floating(input), _floating(other)
    if input.size == 0 or other.size == 0:
        return input * other
    x, q = input + ops.zeros_like(other), other + ops.zeros_like(input)
    pole = ops.logical_and(x > 1, ops.logical_and(q <= 0, q == ops.floor(q)))
    return ops.where(pole, float("inf"), ops.zeta(x, q))
