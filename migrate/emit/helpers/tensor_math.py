"""Elementwise functions and matrix functions without a MindSpore operator that runs everywhere."""

import math

import mindspore
from mindspore import Tensor, ops

from migrate.emit.helpers.functions_shape import broadcast_shapes
from migrate.emit.helpers.functions_special import _floating


def angle(input):
    """torch's angle, also of real numbers: 0, or pi below 0."""
    if input.is_complex():
        return ops.angle(input)
    if not input.is_floating_point():
        input = input.astype(mindspore.float32)
    flat = ops.where(input < 0, ops.full_like(input, math.pi), ops.zeros_like(input))
    return ops.where(ops.isnan(input), input, flat)


def _complex_parts(value):
    """Real and imaginary part; None for that of a real number."""
    if isinstance(value, Tensor):
        if value.is_complex():
            return ops.real(value), ops.imag(value)
        return value if value.is_floating_point() else value.astype(mindspore.float32), None
    return (value.real, value.imag) if isinstance(value, complex) else (value, None)


def complex_product(x, y):
    """x * y of parts: for complex tensors MindSpore has no gradient, and few kernels."""
    (a, b), (c, d) = _complex_parts(x), _complex_parts(y)
    if not (isinstance(x, Tensor) or isinstance(y, Tensor)) or (b is None and d is None):
        return x * y
    if b is None:
        return complex_of(a * c, a * d)
    if d is None:
        return complex_of(a * c, b * c)
    return complex_of(a * c - b * d, a * d + b * c)


def complex_quotient(x, y):
    """x / y of parts: MindSpore's CPU has no kernel for complex tensors."""
    (a, b), (c, d) = _complex_parts(x), _complex_parts(y)
    if not (isinstance(x, Tensor) or isinstance(y, Tensor)) or (b is None and d is None):
        return x / y
    if d is None:
        return complex_of(a / c, b / c)
    size = c * c + d * d
    if b is None:
        return complex_of(a * c / size, -a * d / size)
    return complex_of((a * c + b * d) / size, (b * c - a * d) / size)


def complex_of(real, imag):
    """torch's complex; MindSpore's does not broadcast."""
    shape = broadcast_shapes(real.shape, imag.shape)
    return ops.Complex()(real.broadcast_to(shape), imag.broadcast_to(shape))


def frexp(input):
    """torch's frexp: mantissa of size 0.5 to 1, and int32 exponent."""
    size = ops.abs(ops.stop_gradient(input))
    normal = ops.logical_and(size > 0, ops.isfinite(size))
    size = ops.where(normal, size, ops.full_like(size, 0.5))
    exponent = ops.floor(ops.log2(size)) + 1
    exponent = exponent + (size >= ops.pow(2.0, exponent)).astype(size.dtype)
    exponent = exponent - (size < ops.pow(2.0, exponent - 1)).astype(size.dtype)
    return input / ops.pow(2.0, exponent), exponent.astype(mindspore.int32)


def mvlgamma(input, p):
    """torch's mvlgamma; MindSpore's has no gradient in PyNative mode."""
    input = _floating(input)
    total = ops.lgamma(input) + p * (p - 1) / 4 * math.log(math.pi)
    for i in range(1, p):
        total = total + ops.lgamma(input - i / 2)
    return total


def matrix_exp(input):
    """torch's matrix_exp by scaling and squaring, in float64 for the sake of the squarings."""
    halvings = 10
    scaled = input.astype(mindspore.float64) / 2**halvings
    result = ops.eye(input.shape[-1], input.shape[-1], mindspore.float32) + scaled
    term = scaled
    for i in range(2, 13):
        term = ops.matmul(term, scaled) / i
        result = result + term
    for _ in range(halvings):
        result = ops.matmul(result, result)
    return result.astype(input.dtype)


def _polynomial(coefficients, x):
    """Horner's scheme, highest power first."""
    total = coefficients[0]
    for coefficient in coefficients[1:]:
        total = total * x + coefficient
    return total


def erfinv(input):
    """torch's erfinv by Giles' polynomials; ops.erfinv is off by 2% at 0.999 and more beyond."""
    input = _floating(input)
    x = ops.stop_gradient(input)
    w = -ops.log((1 - x) * (1 + x))
    middle = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087)
    middle += (-0.00125372503, -0.00417768164, 0.246640727, 1.50140941)
    tail = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773)
    tail += (-0.0076224613, 0.00943887047, 1.00167406, 2.83297682)
    near = _polynomial(middle, ops.minimum(w, ops.full_like(w, 5)) - 2.5)
    far = _polynomial(tail, ops.sqrt(ops.clamp(w, 5, 80)) - 3)
    y = x * ops.where(w < 5, near, far)
    slope = math.sqrt(math.pi) / 2 * ops.exp(y * y)
    if input.dtype == mindspore.float64:
        for _ in range(2):
            y = y - (ops.erf(y) - x) * slope
            slope = math.sqrt(math.pi) / 2 * ops.exp(y * y)
    inside = ops.abs(x) < 1
    outside = ops.where(ops.abs(x) == 1, x * float("inf"), ops.full_like(x, float("nan")))
    # The value comes without a gradient; the last term adds 0 with the gradient that erfinv has.
    slope = ops.where(inside, slope, ops.zeros_like(slope))
    return ops.where(inside, y, outside) + (input - x) * slope
