"""Orthogonal polynomials by their recurrences, for a degree or a tensor of degrees."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_special import _floating


def _next_degree(kind, x, k, now, before):
    """The polynomial of degree k + 1 from those of degrees k and k - 1."""
    if kind == "hermite_h":
        return 2 * x * now - 2 * k * before
    if kind == "hermite_he":
        return x * now - k * before
    if kind == "laguerre":
        return ((2 * k + 1 - x) * now - k * before) / (k + 1)
    if kind == "legendre":
        return ((2 * k + 1) * x * now - k * before) / (k + 1)
    return 2 * x * now - before


def _orthogonal_polynomial(kind, x, n, first):
    """The polynomial of degree n, whose degree 1 is `first`; zero for negative degrees."""
    if x.size == 0 or (not isinstance(n, (int, float)) and n.size == 0):
        return x * (n if isinstance(n, (int, float)) else n.astype(x.dtype))
    single = isinstance(n, (int, float))
    degree = mindspore.Tensor(int(n)) if single else n.astype(mindspore.int64)
    top = int(n) if single else int(degree.max())
    before, now = ops.ones_like(x), first
    result = ops.where(degree == 0, before, ops.zeros_like(before))
    for k in range(1, top + 1):
        result = ops.where(degree == k, now, result)
        before, now = now, _next_degree(kind, x, k, now, before)
    return result


def _variable(x, n):
    """torch also takes a number for the variable."""
    return mindspore.Tensor(x, mindspore.float32) if isinstance(x, (int, float)) else _floating(x)


def chebyshev_polynomial_t(input, n):
    """torch's chebyshev_polynomial_t."""
    x = _variable(input, n)
    return _orthogonal_polynomial("chebyshev", x, n, x)


def chebyshev_polynomial_u(input, n):
    """torch's chebyshev_polynomial_u."""
    x = _variable(input, n)
    return _orthogonal_polynomial("chebyshev", x, n, 2 * x)


def chebyshev_polynomial_v(input, n):
    """torch's chebyshev_polynomial_v."""
    x = _variable(input, n)
    return _orthogonal_polynomial("chebyshev", x, n, 2 * x - 1)


def chebyshev_polynomial_w(input, n):
    """torch's chebyshev_polynomial_w."""
    x = _variable(input, n)
    return _orthogonal_polynomial("chebyshev", x, n, 2 * x + 1)


def hermite_polynomial_h(input, n):
    """torch's hermite_polynomial_h."""
    x = _variable(input, n)
    return _orthogonal_polynomial("hermite_h", x, n, 2 * x)


def hermite_polynomial_he(input, n):
    """torch's hermite_polynomial_he."""
    x = _variable(input, n)
    return _orthogonal_polynomial("hermite_he", x, n, x)


def laguerre_polynomial_l(input, n):
    """torch's laguerre_polynomial_l."""
    x = _variable(input, n)
    return _orthogonal_polynomial("laguerre", x, n, 1 - x)


def legendre_polynomial_p(input, n):
    """torch's legendre_polynomial_p."""
    x = _variable(input, n)
    return _orthogonal_polynomial("legendre", x, n, x)


def shifted_chebyshev_polynomial_t(input, n):
    """torch's shifted_chebyshev_polynomial_t, on [0, 1]."""
    return chebyshev_polynomial_t(2 * _variable(input, n) - 1, n)


def shifted_chebyshev_polynomial_u(input, n):
    """torch's shifted_chebyshev_polynomial_u, on [0, 1]."""
    return chebyshev_polynomial_u(2 * _variable(input, n) - 1, n)


def shifted_chebyshev_polynomial_v(input, n):
    """torch's shifted_chebyshev_polynomial_v, on [0, 1]."""
    return chebyshev_polynomial_v(2 * _variable(input, n) - 1, n)


def shifted_chebyshev_polynomial_w(input, n):
    """torch's shifted_chebyshev_polynomial_w, on [0, 1]."""
    return chebyshev_polynomial_w(2 * _variable(input, n) - 1, n)
