"""Singular values with torch's gradients, for empty matrices too.

MindSpore's kernel takes no empty matrix, and differentiates square or nearly square ones only: its
result is taken as a constant, and the derivative is added as a term that is zero in value.
"""

import mindspore
from mindspore import ops


def linalg_svd(A, full_matrices=True, driver=None):
    """torch.linalg.svd: U, S and V transposed; vectors may differ in sign."""
    rows, columns = A.shape[-2:]
    batch, size = A.shape[:-2], min(rows, columns)
    if A.size == 0:
        left = ops.eye(rows, rows if full_matrices else size, dtype=A.dtype)
        right = ops.eye(columns if full_matrices else size, columns, dtype=A.dtype)
        return (
            left.broadcast_to(batch + left.shape),
            ops.zeros(batch + (size,), A.dtype),
            right.broadcast_to(batch + right.shape),
        )
    constant = ops.stop_gradient(A)
    values, left, right = ops.svd(constant, full_matrices=full_matrices)
    values, left, right = map(ops.stop_gradient, (values, left, right))
    u, v, change = left[..., :size], right[..., :size], A - constant
    inner = ops.matmul(u.swapaxes(-2, -1), ops.matmul(change, v))
    diagonal = (inner * ops.eye(size, dtype=A.dtype)).sum(-1)
    across, down = values.expand_dims(-2), values.expand_dims(-1)
    gaps = ops.square(across) - ops.square(down)
    share = ops.where(gaps != 0, 1 / ops.where(gaps != 0, gaps, ops.ones_like(gaps)), 0.0)
    turned = inner.swapaxes(-2, -1)
    moved_u = u + ops.matmul(u, share * (inner * across + down * turned))
    moved_v = v + ops.matmul(v, share * (down * inner + turned * across))
    # What leaves the space of the singular vectors, which are fewer than rows or columns.
    scale = ops.where(across > 0, 1 / ops.where(across > 0, across, ops.ones_like(across)), 0.0)
    if rows > size:
        out = ops.matmul(change, v)
        moved_u = moved_u + (out - ops.matmul(u, ops.matmul(u.swapaxes(-2, -1), out))) * scale
        moved_u = ops.cat((moved_u, left[..., size:]), axis=-1) if full_matrices else moved_u
    if columns > size:
        out = ops.matmul(change.swapaxes(-2, -1), u)
        moved_v = moved_v + (out - ops.matmul(v, ops.matmul(v.swapaxes(-2, -1), out))) * scale
        moved_v = ops.cat((moved_v, right[..., size:]), axis=-1) if full_matrices else moved_v
    return moved_u, values + diagonal, moved_v.swapaxes(-2, -1)


def svdvals(A, driver=None):
    """torch.linalg.svdvals."""
    return linalg_svd(A, False)[1]


def svd(input, some=True, compute_uv=True):
    """torch's svd: U, S, V in this order; without compute_uv, U and V are zeros."""
    left, values, right = linalg_svd(input, not some)
    if compute_uv:
        return left, values, right.swapaxes(-2, -1)
    rows, columns = input.shape[-2:]
    return (
        ops.zeros(input.shape[:-2] + (rows, rows), input.dtype),
        values,
        ops.zeros(input.shape[:-2] + (columns, columns), input.dtype),
    )


def matrix_rank(A, tol=None, hermitian=False, atol=None, rtol=None):
    """torch.linalg.matrix_rank: singular values above the tolerance."""
    if A.size == 0:
        return ops.zeros(A.shape[:-2], mindspore.int64)
    if hermitian:
        A = ops.tril(A) + ops.tril(A, -1).swapaxes(-2, -1)
    values = ops.svd(A, compute_uv=False)
    least = _tolerance(tol if atol is None else atol, A.dtype)
    if rtol is None:
        eps = 1.1920928955078125e-07 * max(A.shape[-2], A.shape[-1])
        share = ops.where(least > 0, 0.0, eps) if tol is None else _tolerance(0.0, A.dtype)
    else:
        share = _tolerance(rtol, A.dtype)
    bound = ops.maximum(ops.amax(values, axis=-1, keepdims=True) * share, least)
    return ops.sum((values > bound).astype(mindspore.int64), dim=-1)


def _tolerance(given, dtype):
    """A tolerance for each matrix stands beside its singular values."""
    if isinstance(given, mindspore.Tensor):
        return given.astype(dtype).expand_dims(-1)
    return mindspore.Tensor([0.0 if given is None else given], dtype)
