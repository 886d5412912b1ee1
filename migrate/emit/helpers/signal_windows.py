"""torch.signal.windows: symmetric by default, where torch's older windows are periodic."""

import math

import mindspore
from mindspore import ops


def _window_span(length, sym):
    """The number of steps between the first sample and the (last, or next) one."""
    return max(length - 1 if sym else length, 1)


def _window_places(length, dtype):
    """0, 1, 2, ... as numbers of the window's dtype."""
    return ops.arange(length).astype(mindspore.float32 if dtype is None else dtype)


def windows_general_cosine(M, *, a, sym=True, dtype=None):
    """torch's general_cosine: cosines of rising frequency with alternating signs."""
    phase = 2 * math.pi / _window_span(M, sym) * _window_places(M, dtype)
    if M == 1:
        return ops.ones_like(phase)
    total = a[0] * ops.ones_like(phase)
    for order in range(1, len(a)):
        total = total + (-1) ** order * a[order] * ops.cos(order * phase)
    return total


def windows_general_hamming(M, *, alpha=0.54, sym=True, dtype=None):
    """torch's general_hamming."""
    return windows_general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype)


def windows_hamming(M, *, sym=True, dtype=None):
    """torch.signal's hamming."""
    return windows_general_cosine(M, a=[0.54, 0.46], sym=sym, dtype=dtype)


def windows_hann(M, *, sym=True, dtype=None):
    """torch.signal's hann."""
    return windows_general_cosine(M, a=[0.5, 0.5], sym=sym, dtype=dtype)


def windows_blackman(M, *, sym=True, dtype=None):
    """torch.signal's blackman."""
    return windows_general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype)


def windows_nuttall(M, *, sym=True, dtype=None):
    """torch's nuttall: four terms, the smallest side lobes."""
    weights = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return windows_general_cosine(M, a=weights, sym=sym, dtype=dtype)


def windows_bartlett(M, *, sym=True, dtype=None):
    """torch.signal's bartlett: a triangle that touches zero."""
    places = _window_places(M, dtype)
    if M == 1:
        return ops.ones_like(places)
    return 1 - ops.abs(2 / _window_span(M, sym) * places - 1)


def windows_cosine(M, *, sym=True, dtype=None):
    """torch's cosine: half a period of a sine, sampled between the steps."""
    return ops.sin(
        math.pi / max(M if sym or M <= 1 else M + 1, 1) * (_window_places(M, dtype) + 0.5)
    )


def windows_exponential(M, *, center=None, tau=1.0, sym=True, dtype=None):
    """torch's exponential, falling to both sides of its centre."""
    middle = (M - 1 if sym or M <= 1 else M) / 2 if center is None else center
    return ops.exp(-ops.abs(_window_places(M, dtype) - middle) / tau)


def windows_gaussian(M, *, std=1.0, sym=True, dtype=None):
    """torch's gaussian."""
    middle = (M - 1 if sym or M <= 1 else M) / 2
    return ops.exp(-(((_window_places(M, dtype) - middle) / (std * math.sqrt(2))) ** 2))


def windows_kaiser(M, *, beta=12.0, sym=True, dtype=None):
    """torch.signal's kaiser."""
    places = _window_places(M, dtype)
    if M == 1:
        return ops.ones_like(places)
    along = 2 * beta / _window_span(M, sym) * places - beta
    inside = ops.maximum(beta * beta - along * along, ops.zeros_like(along))
    top = ops.full((1,), beta, dtype=places.dtype)
    return ops.bessel_i0(ops.sqrt(inside)) / ops.bessel_i0(top)
