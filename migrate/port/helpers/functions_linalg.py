"""Linear algebra with torch's order of results, from operators that have gradients."""

import mindspore
from mindspore import ops


def cholesky_inverse(L, upper=False):
    """torch's cholesky_inverse; MindSpore's is wrong for batches."""
    factor = ops.triu(L) if upper else ops.tril(L)
    transposed = factor.swapaxes(-2, -1)
    product = ops.matmul(transposed, factor) if upper else ops.matmul(factor, transposed)
    return ops.inverse(product)


def svd(input, some=True, compute_uv=True):
    """torch.svd: U, S, V. MindSpore gives S first."""
    if not compute_uv:
        values = ops.svd(input, compute_uv=False)
        rows, columns = input.shape[-2:]
        return (
            ops.zeros((*input.shape[:-2], rows, rows), input.dtype),
            values,
            ops.zeros((*input.shape[:-2], columns, columns), input.dtype),
        )
    values, left, right = ops.svd(input, full_matrices=not some)
    return left, values, right


def linalg_svd(A, full_matrices=True, driver=None):
    """torch.linalg.svd: U, S and V transposed."""
    values, left, right = ops.svd(A, full_matrices=full_matrices)
    return left, values, right.swapaxes(-2, -1)


def linalg_solve(A, B, left=True):
    """torch.linalg.solve for matrices, or vectors where B has one dimension less."""
    vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    right_side = B.expand_dims(-1) if vector else B
    if not left:
        return linalg_solve(A.swapaxes(-2, -1), right_side.swapaxes(-2, -1)).swapaxes(-2, -1)
    solution = ops.matmul(ops.inverse(A), right_side)
    return solution.squeeze(-1) if vector else solution


def multi_dot(tensors):
    """torch.linalg.multi_dot, from left to right."""
    result = tensors[0]
    for tensor in tensors[1:]:
        result = ops.matmul(result, tensor)
    return result


def matrix_exp(A):
    """torch's matrix_exp by scaling, a Taylor polynomial, and squaring."""
    scaled = A / 256.0
    shape = A.shape
    term = ops.eye(shape[-1], dtype=A.dtype).broadcast_to(shape)
    total = term
    for k in range(1, 9):
        term = ops.matmul(term, scaled) / k
        total = total + term
    for _ in range(8):
        total = ops.matmul(total, total)
    return total


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    """torch.linalg.matrix_norm."""
    return ops.matrix_norm(A, ord=ord, axis=tuple(dim), keepdims=keepdim, dtype=dtype)


def matrix_rank(A, tol=None, hermitian=False, atol=None, rtol=None):
    """torch.linalg.matrix_rank: singular values above the tolerance."""
    values = ops.svd(A, compute_uv=False)
    largest = ops.amax(values, axis=-1, keepdims=True)
    if tol is not None:
        bound = tol
    else:
        eps = 1.1920928955078125e-07 * max(A.shape[-2], A.shape[-1])
        rtol = (eps if atol is None else 0.0) if rtol is None else rtol
        bound = ops.maximum(largest * rtol, mindspore.Tensor(0.0 if atol is None else atol, A.dtype))
    return ops.sum((values > bound).astype(mindspore.int64), dim=-1)
