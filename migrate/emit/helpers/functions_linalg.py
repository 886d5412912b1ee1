"""Linear algebra with torch's order of results, from operators that have gradients."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_constant_pad import constant_pad
from migrate.emit.helpers.functions_factor import matrix_inverse


def cholesky_inverse(L, upper=False):
    """torch's cholesky_inverse; MindSpore's is wrong for batches."""
    if L.size == 0:
        return L
    # torch reads one triangle and yet gives the whole of L a gradient.
    factor = L + ops.stop_gradient((ops.triu(L) if upper else ops.tril(L)) - L)
    transposed = factor.swapaxes(-2, -1)
    product = ops.matmul(transposed, factor) if upper else ops.matmul(factor, transposed)
    return ops.inverse(product)


def linalg_solve(A, B, left=True):
    """torch.linalg.solve for matrices, or vectors where B has one dimension less."""
    vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    right_side = B.expand_dims(-1) if vector else B
    if A.size == 0 or B.size == 0:
        return ops.zeros(B.shape, B.dtype)
    if not left:
        return linalg_solve(A.swapaxes(-2, -1), right_side.swapaxes(-2, -1)).swapaxes(-2, -1)
    solution = ops.matmul(matrix_inverse(A), right_side)
    return solution.squeeze(-1) if vector else solution


def solve_ex(A, B, *, left=True, check_errors=False):
    """torch.linalg.solve_ex of systems that have a solution."""
    return linalg_solve(A, B, left), ops.zeros(A.shape[:-2], mindspore.int32)


def multi_dot(tensors):
    """torch.linalg.multi_dot, from left to right."""
    result = tensors[0]
    for tensor in tensors[1:]:
        if result.size == 0 or tensor.size == 0:  # the kernel leaves a sum of nothing unset
            result = ops.zeros(result.shape[:-1] + tensor.shape[1:], result.dtype)
        else:
            result = ops.matmul(result, tensor)
    return result


def vecdot(x, y, dim=-1):
    """torch.linalg.vecdot; ops.vecdot of vectors without elements is not zero."""
    product = (ops.conj(x) if x.is_complex() else x) * y
    if product.size > 0:
        return ops.sum(product, dim=dim)
    shape = list(product.shape)
    shape.pop(dim)
    return ops.zeros(tuple(shape), product.dtype)


def linalg_eig(A):
    """torch.linalg.eig, without gradient; ops.eig of an empty matrix ends the process."""
    if A.size == 0:
        return ops.zeros(A.shape[:-1], mindspore.complex64), A.astype(mindspore.complex64)
    return ops.eig(A)


def linalg_eigvals(A):
    """torch.linalg.eigvals, without gradient."""
    return linalg_eig(A)[0]


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    """torch.linalg.matrix_norm."""
    if A.size == 0:
        axes = [axis % A.ndim for axis in dim]
        sizes = [(1 if i in axes else n, i in axes) for i, n in enumerate(A.shape)]
        shape = tuple([n for n, reduced in sizes if keepdim or not reduced])
        return ops.zeros(shape, A.dtype if dtype is None else dtype)
    return ops.matrix_norm(A, ord=ord, axis=tuple(dim), keepdims=keepdim, dtype=dtype)


def linalg_vander(x, N=None):
    """torch.linalg.vander: rising powers, for batches too."""
    x = x if x.ndim > 0 else x.reshape((1,))
    count = x.shape[-1] if N is None else N
    return ops.pow(x.expand_dims(-1), ops.arange(count).astype(x.dtype))


def tensorinv(A, ind=2):
    """torch.linalg.tensorinv."""
    rows, columns = A.shape[:ind], A.shape[ind:]
    size = 1
    for length in rows:
        size *= length
    return ops.inverse(A.reshape((size, -1))).reshape(columns + rows)


def tensorsolve(A, B, dims=None):
    """torch.linalg.tensorsolve."""
    if dims is not None:
        moved = tuple([axis % A.ndim for axis in dims])
        kept = tuple([axis for axis in range(A.ndim) if axis not in moved])
        A = ops.transpose(A, kept + moved)
    shape = A.shape[B.ndim :]
    return linalg_solve(A.reshape((B.size, -1)), B.reshape((-1,))).reshape(shape)


def solve_triangular(input, B, upper, left=True, unitriangular=False):
    """torch.linalg.solve_triangular, by the inverse of the triangle."""
    if input.size == 0 or B.size == 0:
        return ops.zeros(B.shape, B.dtype)
    triangle = ops.triu(input) if upper else ops.tril(input)
    if unitriangular:
        eye = ops.eye(input.shape[-1], dtype=input.dtype)
        triangle = triangle * (1 - eye) + eye
    inverse = matrix_inverse(triangle)
    return ops.matmul(inverse, B) if left else ops.matmul(B, inverse)


def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False):
    """torch's triangular_solve: the solution of A x = b, and A."""
    matrix, upper = (A.swapaxes(-2, -1), not upper) if transpose else (A, upper)
    return solve_triangular(matrix, b, upper, True, unitriangular), A


def cholesky_solve(B, L, upper=False):
    """torch's cholesky_solve; ops.cholesky_solve runs on an Ascend's AI CPU."""
    if L.size == 0 or B.size == 0:
        return ops.zeros(B.shape, B.dtype)
    # torch reads one triangle and yet gives the whole of L a gradient.
    factor = L + ops.stop_gradient((ops.triu(L) if upper else ops.tril(L)) - L)
    inverse = matrix_inverse(factor)
    transposed = inverse.swapaxes(-2, -1)
    if upper:
        return ops.matmul(inverse, ops.matmul(transposed, B))
    return ops.matmul(transposed, ops.matmul(inverse, B))


def trace(input):
    """torch's trace; the gradient of ops.trace runs on an Ascend's AI CPU."""
    rows, columns = input.shape
    count = min(rows, columns)
    return input.reshape((-1,))[: (columns + 1) * count : columns + 1].sum()


def householder_product(A, tau):
    """torch.linalg.householder_product: the reflections multiplied, first columns only."""
    if A.size == 0:
        return A
    rows, columns = A.shape[-2:]
    eye = ops.eye(rows, dtype=A.dtype)
    product = eye.broadcast_to(A.shape[:-2] + (rows, rows))
    lower = ops.tril(A, -1) + ops.eye(rows, columns, dtype=A.dtype)
    for i in range(tau.shape[-1]):
        v = lower[..., i : i + 1]
        scale = tau[..., i : i + 1].expand_dims(-1)
        product = ops.matmul(product, eye - scale * ops.matmul(v, v.swapaxes(-2, -1)))
    return product[..., :columns]


def ormqr(input, tau, other, left=True, transpose=False):
    """torch's ormqr: a product with the whole orthogonal matrix of a QR decomposition."""
    if input.size == 0 or other.size == 0:
        return other.copy()
    rows = input.shape[-2]
    wide = constant_pad(input, (0, rows - input.shape[-1])) if rows > input.shape[-1] else input
    q = householder_product(wide, tau)
    q = q.swapaxes(-2, -1) if transpose else q
    return ops.matmul(q, other) if left else ops.matmul(other, q)
