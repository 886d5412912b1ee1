"""Cholesky and LU decompositions step by step: MindSpore's kernels have no gradients on CPU, take
one matrix or end the process for some shapes. The loop unrolls in Graph mode.
"""

import mindspore
from mindspore import ops

from migrate.emit.helpers.train_inputs import _is_compiling, _same_again


def matrix_inverse(A):
    """The inverse of matrices of any size; of a singular one, torch raises."""
    inverse = _any_inverse(A)
    if not _is_compiling(_same_again):
        _raise_if_singular(A, inverse)
    return inverse


def _any_inverse(A):
    """ops.inverse wants two rows at least; of a singular matrix it gives some other matrix."""
    if A.size == 0:
        return A
    return 1 / A if A.shape[-1] == 1 else ops.inverse(A)


def _raise_if_singular(A, inverse):
    if A.size == 0:
        return
    product = ops.matmul(ops.stop_gradient(A), ops.stop_gradient(inverse))
    error = ops.abs(product - ops.eye(A.shape[-1], dtype=A.dtype))
    if bool((error > 0.5).any()):
        raise RuntimeError("the inversion could not be completed: the input matrix is singular")


def linalg_det(A):
    """The determinant of matrices of any size; ops.det wants two rows at least."""
    if A.size == 0:
        return ops.ones(A.shape[:-2], A.dtype)
    return A.squeeze(-1).squeeze(-1) if A.shape[-1] == 1 else ops.det(A)


def linalg_slogdet(A):
    """torch.linalg.slogdet of matrices of any size."""
    if A.shape[-1] > 1 and A.size > 0:
        return ops.slogdet(A)
    value = linalg_det(A)
    return ops.sign(value), ops.log(ops.abs(value))


def linalg_logdet(input):
    """torch's logdet of matrices of any size."""
    return ops.log(linalg_det(input))


def inv_ex(A, *, check_errors=False):
    """torch.linalg.inv_ex of matrices that have an inverse."""
    return _any_inverse(A), ops.zeros(A.shape[:-2], mindspore.int32)


def cholesky(input, upper=False):
    """torch's cholesky of symmetric positive definite matrices, column by column."""
    lower, pivots = _cholesky_columns(input, upper)
    # MindSpore's any() of nothing is what the memory held.
    if pivots.size and not _is_compiling(_same_again) and bool(ops.logical_not(pivots > 0).any()):
        raise RuntimeError("the factorization failed: the input is not positive-definite")
    return lower.swapaxes(-2, -1) if upper else lower


def linalg_cholesky(A, *, upper=False):
    """torch.linalg.cholesky."""
    return cholesky(A, upper)


def cholesky_ex(A, *, upper=False, check_errors=False):
    """torch.linalg.cholesky_ex: the factor, and the first minor that is not positive (0: none)."""
    lower, pivots = _cholesky_columns(A, upper)
    if A.size == 0:
        return lower, ops.zeros(A.shape[:-2], mindspore.int32)
    bad = ops.logical_not(pivots > 0).astype(mindspore.int32)
    first = ops.argmax(bad, dim=-1).astype(mindspore.int32) + 1
    info = ops.where(bad.sum(-1) > 0, first, ops.zeros_like(first))
    return (lower.swapaxes(-2, -1) if upper else lower), info


def _cholesky_columns(matrix, upper):
    """The lower factor and the pivots; the gradient is shared by both triangles, as torch does."""
    size = matrix.shape[-1]
    if matrix.size == 0:
        return matrix, matrix
    transposed = matrix.swapaxes(-2, -1)
    rest = (matrix + transposed) / 2
    places = ops.arange(size).reshape((size, 1))
    columns, pivots = [], []
    for k in range(size):
        pivot = rest[..., k : k + 1, k : k + 1]
        column = rest[..., :, k : k + 1] / ops.sqrt(pivot) * (places >= k).astype(matrix.dtype)
        rest = rest - column * column.swapaxes(-2, -1)
        columns.append(column)
        pivots.append(pivot.squeeze(-1))
    return ops.cat(columns, axis=-1), ops.cat(pivots, axis=-1)


def _lu_steps(matrix, pivot):
    """Factors in one matrix, and for each step the row (from zero) that was exchanged."""
    rows, columns = matrix.shape[-2:]
    places = ops.arange(rows)
    exchanged = []
    for k in range(min(rows, columns)):
        column = ops.stop_gradient(matrix[..., :, k])
        chosen = ops.full(column.shape[:-1], k, dtype=mindspore.int64)
        if pivot:
            size = ops.where(places >= k, ops.abs(column), -ops.ones_like(column))
            chosen = ops.argmax(size, dim=-1).astype(mindspore.int64)
            spot = chosen.expand_dims(-1)
            order = ops.where(places == k, spot, ops.where(places == spot, k, places))
            order = ops.broadcast_to(order.expand_dims(-1), matrix.shape).astype(mindspore.int64)
            matrix = ops.gather_elements(matrix, matrix.ndim - 2, order)
        exchanged.append(chosen)
        below = (places > k).astype(matrix.dtype).expand_dims(-1)
        right = (ops.arange(columns) > k).astype(matrix.dtype)
        share = matrix[..., :, k : k + 1] / matrix[..., k : k + 1, k : k + 1] * below
        here = (ops.arange(columns) == k).astype(matrix.dtype)
        scaled = matrix * (1 - below * here) + share * here
        matrix = scaled - share * matrix[..., k : k + 1, :] * right
    return matrix, ops.stack(exchanged, axis=-1)


def lu_factor(A, pivot=True):
    """torch.linalg.lu_factor; pivots count from one."""
    if A.size == 0:
        return A, ops.zeros(A.shape[:-2] + (min(A.shape[-2:]),), mindspore.int32)
    factors, exchanged = _lu_steps(A, pivot)
    return factors, (exchanged + 1).astype(mindspore.int32)


def lu_factor_ex(A, pivot=True, check_errors=False):
    """torch.linalg.lu_factor_ex: the first pivot that is zero (0: none) comes last."""
    factors, pivots = lu_factor(A, pivot)
    if A.size == 0:
        return factors, pivots, ops.zeros(A.shape[:-2], mindspore.int32)
    zero = (ops.diagonal(factors, dim1=-2, dim2=-1) == 0).astype(mindspore.int32)
    first = ops.argmax(zero, dim=-1).astype(mindspore.int32) + 1
    return factors, pivots, ops.where(zero.sum(-1) > 0, first, ops.zeros_like(first))


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """torch's lu_unpack: P, L, U; what is not wanted comes back empty."""
    rows, columns = LU_data.shape[-2:]
    size = min(rows, columns)
    nothing = ops.zeros((0,), LU_data.dtype)
    lower = upper = permutation = nothing
    if unpack_data:
        eye = ops.eye(rows, size, dtype=LU_data.dtype)
        lower = ops.tril(LU_data[..., :, :size], -1) + eye
        upper = ops.triu(LU_data[..., :size, :])
    if unpack_pivots:
        permutation = _permutation(LU_pivots, rows).astype(LU_data.dtype)
    return permutation, lower, upper


def _permutation(pivots, rows):
    """The matrix P of A = P L U."""
    places = ops.arange(rows)
    order = ops.broadcast_to(places, pivots.shape[:-1] + (rows,)).astype(mindspore.int64)
    for k in range(pivots.shape[-1]):
        spot = pivots[..., k : k + 1].astype(mindspore.int64) - 1
        moved = ops.gather_elements(order, order.ndim - 1, spot)
        kept = order[..., k : k + 1]
        order = ops.where(places == k, moved, ops.where(places == spot, kept, order))
    return (order.expand_dims(-2) == places.expand_dims(-1)).astype(mindspore.float32)


def linalg_lu(A, *, pivot=True):
    """torch.linalg.lu: P, L, U."""
    factors, pivots = lu_factor(A, pivot)
    permutation, lower, upper = lu_unpack(factors, pivots)
    return (permutation if pivot else ops.zeros((0,), A.dtype)), lower, upper


def lu(A, pivot=True, get_infos=False):
    """torch.lu: the packed factors, the pivots and, if wanted, the error codes."""
    factors, pivots, info = lu_factor_ex(A, pivot)
    return (factors, pivots, info) if get_infos else (factors, pivots)


def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """torch.linalg.lu_solve, by the inverses of the triangles."""
    if LU.size == 0 or B.size == 0:
        return ops.zeros(B.shape, B.dtype)
    permutation, lower, upper = lu_unpack(LU, pivots)
    inverse = ops.matmul(
        matrix_inverse(upper), ops.matmul(matrix_inverse(lower), permutation.swapaxes(-2, -1))
    )
    inverse = inverse.swapaxes(-2, -1) if adjoint else inverse
    return ops.matmul(inverse, B) if left else ops.matmul(B, inverse)


def lu_solve(b, LU_data, LU_pivots):
    """torch.lu_solve."""
    return linalg_lu_solve(LU_data, LU_pivots, b)


def geqrf(input):
    """torch's geqrf: R above, the reflections below the diagonal, and their factors."""
    rows, columns = input.shape[-2:]
    places, across = ops.arange(rows).expand_dims(-1), ops.arange(columns)
    rest, below, factors = input, ops.zeros_like(input), []
    for i in range(min(rows, columns)):
        column = rest[..., i : i + 1]
        head = rest[..., i : i + 1, i : i + 1]
        tail = ops.where(places > i, column, ops.zeros_like(column))
        length = ops.sqrt(head * head + (tail * tail).sum(-2, keepdims=True))
        turned = ops.where(head < 0, length, -length)
        moves = (tail != 0).astype(input.dtype).sum(-2, keepdims=True) > 0
        factor = ops.where(moves, (turned - head) / turned, ops.zeros_like(head))
        tail = ops.where(moves, tail / (head - turned), ops.zeros_like(tail))
        reflection = tail + (places == i).astype(input.dtype)
        product = ops.matmul(reflection.swapaxes(-2, -1), rest)
        rest = rest - factor * ops.matmul(reflection, product)
        below = below + tail * (across == i).astype(input.dtype)
        factors.append(factor.squeeze(-1))
    if not factors:
        return input.copy(), ops.zeros((*input.shape[:-2], 0), input.dtype)
    return ops.where(places > across, below, rest), ops.cat(factors, axis=-1)
