"""Bessel functions that have no value below zero: MindSpore gives infinity there, torch NaN."""

from mindspore import ops

from migrate.emit.helpers.functions_special import _floating


def _from_zero_on(x, values):
    return ops.where(x < 0, ops.full_like(values, float("nan")), values)


def bessel_y0(input):
    """torch.special.bessel_y0."""
    input = _floating(input)
    values = ops.where(input == 0, -float("inf"), ops.bessel_y0(input))
    return _from_zero_on(input, values)


def bessel_y1(input):
    """torch.special.bessel_y1."""
    input = _floating(input)
    values = ops.where(input == 0, -float("inf"), ops.bessel_y1(input))
    return _from_zero_on(input, values)


def bessel_k0(input):
    """torch.special.modified_bessel_k0."""
    input = _floating(input)
    return _from_zero_on(input, ops.bessel_k0(input))


def bessel_k1(input):
    """torch.special.modified_bessel_k1."""
    input = _floating(input)
    return _from_zero_on(input, ops.bessel_k1(input))


def bessel_k0e(input):
    """torch.special.scaled_modified_bessel_k0."""
    input = _floating(input)
    return _from_zero_on(input, ops.bessel_k0e(input))


def bessel_k1e(input):
    """torch.special.scaled_modified_bessel_k1."""
    input = _floating(input)
    return _from_zero_on(input, ops.bessel_k1e(input))
