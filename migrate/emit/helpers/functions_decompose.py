"""Decompositions with torch's gradients, where MindSpore's are missing or wrong.

Each takes MindSpore's result as a constant and adds a first-order term that is zero in value: the
change of the input, D = A - constant(A), carried through the decomposition's derivative.
"""

import mindspore
import mindspore.scipy.linalg
from mindspore import ops

from migrate.emit.helpers.functions_linalg import matrix_norm


def linalg_eigh(A, UPLO="L"):
    """torch.linalg.eigh; eigenvectors may differ in sign."""
    if A.size == 0:
        return ops.zeros(A.shape[:-1], A.dtype), A
    values, vectors = _eigh_constants(ops.stop_gradient(A), UPLO)
    change = A - ops.stop_gradient(A)
    change = (change + change.swapaxes(-2, -1)) / 2  # torch's gradient is symmetric
    inner = ops.matmul(vectors.swapaxes(-2, -1), ops.matmul(change, vectors))
    eye = ops.eye(A.shape[-1], dtype=A.dtype)
    gaps = values.expand_dims(-2) - values.expand_dims(-1)
    apart = gaps != 0
    share = ops.where(apart, 1 / ops.where(apart, gaps, ops.ones_like(gaps)), ops.zeros_like(gaps))
    moved = vectors + ops.matmul(vectors, share * inner)
    return values + (inner * eye).sum(-1), moved


def _eigh_constants(matrix, UPLO):
    """MindSpore's eigh takes one matrix; the other triangle is not looked at."""
    lower = UPLO.upper() == "L"
    flat = matrix.reshape((-1, matrix.shape[-2], matrix.shape[-1]))
    values, vectors = [], []
    for place in range(flat.shape[0]):
        value, vector = mindspore.scipy.linalg.eigh(flat[place], lower=lower)
        values.append(value)
        vectors.append(vector)
    values = ops.stop_gradient(ops.stack(values).reshape(matrix.shape[:-1]))
    return values, ops.stop_gradient(ops.stack(vectors).reshape(matrix.shape))


def linalg_qr(A, mode="reduced"):
    """torch.linalg.qr; a gradient exists, as in torch, where Q has no more columns than A."""
    if A.size == 0:
        rows, columns = A.shape[-2:]
        inner = rows if mode == "complete" else min(rows, columns)
        eye = ops.eye(rows, inner, dtype=A.dtype).broadcast_to(A.shape[:-2] + (rows, inner))
        return eye, ops.zeros(A.shape[:-2] + (inner, columns), A.dtype)
    constant = ops.stop_gradient(A)
    q, r = ops.qr(constant, mode="complete" if mode == "complete" else "reduced")
    q, r = ops.stop_gradient(q), ops.stop_gradient(r)
    if mode == "r":
        return ops.zeros((0,), A.dtype), r
    rows, columns = A.shape[-2:]
    if mode == "complete" and rows > columns:
        return q, r
    size = min(rows, columns)
    square = r[..., :size, :size]
    change = (A - constant)[..., :, :size]
    inverse = 1 / square if size == 1 else ops.inverse(square)
    scaled = ops.matmul(change, inverse)
    inner = ops.matmul(q.swapaxes(-2, -1), scaled)
    places = ops.arange(size)
    below = (places.expand_dims(-1) > places).astype(A.dtype)
    turn = inner * below - (inner * below).swapaxes(-2, -1)
    outside = scaled - ops.matmul(q, inner)
    moved = q + ops.matmul(q, turn) + outside
    # R is Q^T A in value and in derivative.
    first = ops.matmul(moved.swapaxes(-2, -1), constant) - r
    return moved, r + (first - ops.stop_gradient(first)) + ops.matmul(
        q.swapaxes(-2, -1), A - constant
    )


def qr(input, some=True):
    """torch.qr."""
    return linalg_qr(input, "reduced" if some else "complete")


def linalg_pinv(A, *, rcond=None, hermitian=False, atol=None, rtol=None):
    """torch.linalg.pinv, also of matrices without full rank."""
    if A.size == 0:
        return ops.zeros(A.shape[:-2] + (A.shape[-1], A.shape[-2]), A.dtype)
    given = constant = ops.stop_gradient(A)
    if hermitian:  # one triangle stands for both
        constant = ops.tril(given) + ops.tril(given, -1).swapaxes(-2, -1)
    values, left, right = ops.svd(constant, full_matrices=False)
    rtol = rcond if rtol is None else rtol
    if rtol is None:
        eps = 1.1920928955078125e-07 * max(A.shape[-2], A.shape[-1])
        rtol = eps if atol is None else 0.0
    largest = ops.amax(values, axis=-1, keepdims=True)
    bound = largest * _as_column(rtol) if rtol is not None else ops.zeros_like(largest)
    if atol is not None:
        bound = ops.maximum(bound, ops.zeros_like(bound) + _as_column(atol))
    kept = values > bound
    factors = ops.where(kept, 1 / ops.where(kept, values, ops.ones_like(values)), 0.0)
    inverse = ops.matmul(right * factors.expand_dims(-2), left.swapaxes(-2, -1))
    inverse = ops.stop_gradient(inverse)
    change = A - given
    turned, back = change.swapaxes(-2, -1), inverse.swapaxes(-2, -1)
    plain = ops.matmul(inverse, ops.matmul(change, inverse))
    rows = turned - ops.matmul(turned, ops.matmul(given, inverse))
    columns = turned - ops.matmul(ops.matmul(inverse, given), turned)
    return (
        inverse
        - plain
        + ops.matmul(inverse, ops.matmul(back, rows))
        + ops.matmul(columns, ops.matmul(back, inverse))
    )


def _as_column(tolerance):
    """A tolerance for each matrix stands beside its largest singular value."""
    return tolerance.expand_dims(-1) if isinstance(tolerance, mindspore.Tensor) else tolerance


def vector_norm(x, ord=2, dim=None, keepdim=False, dtype=None):
    """torch's vector norm; the gradient at zero is zero, where MindSpore's is not a number."""
    x = x if dtype is None else x.astype(dtype)
    axes = (dim,) if isinstance(dim, int) else () if dim is None else tuple(dim)
    axes = axes if len(axes) > 0 else tuple(range(x.ndim))
    if x.dtype == mindspore.float16:
        # Powers leave float16's range long before the norm does.
        wide = x.astype(mindspore.float32)
        return vector_norm(wide, ord, axes, keepdim).astype(mindspore.float16)
    if x.size == 0:
        axes = [axis % x.ndim for axis in axes]
        sizes = [(1 if i in axes else n, i in axes) for i, n in enumerate(x.shape)]
        shape = tuple([n for n, reduced in sizes if keepdim or not reduced])
        return ops.full(shape, 0.0 if ord >= 0 else float("inf"), dtype=x.dtype)
    size = ops.abs(x)
    if ord == 0:
        size = (x != 0).astype(size.dtype)
        return ops.sum(size, dim=axes, keepdim=keepdim) if x.ndim else size
    if x.ndim == 0:
        return size
    if ord == float("inf"):
        return ops.amax(size, axis=axes, keepdims=keepdim)
    if ord == -float("inf"):
        return ops.amin(size, axis=axes, keepdims=keepdim)
    if ord == 1:
        return ops.sum(size, dim=axes, keepdim=keepdim)
    empty = size == 0
    powers = ops.pow(ops.where(empty, ops.ones_like(size), size), ord)
    if ord > 0:
        powers = ops.where(empty, ops.zeros_like(powers), powers)
    else:
        powers = ops.where(empty, ops.full_like(powers, float("inf")), powers)
    total = ops.sum(powers, dim=axes, keepdim=keepdim)
    flat = total == 0
    root = ops.pow(ops.where(flat, ops.ones_like(total), total), 1.0 / ord)
    return ops.where(flat, ops.zeros_like(root), root)


def linalg_norm(A, ord=None, dim=None, keepdim=False, dtype=None):
    """torch.linalg.norm: a vector norm, unless two dimensions and an order are given."""
    pair = dim is not None and not isinstance(dim, int) and len(dim) == 2
    if ord is None or (isinstance(dim, int) or (dim is not None and len(dim) == 1)):
        return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype)
    if not pair and A.ndim == 1:
        return vector_norm(A, ord, dim, keepdim, dtype)
    return matrix_norm(A, ord, tuple(dim) if pair else (-2, -1), keepdim, dtype)
