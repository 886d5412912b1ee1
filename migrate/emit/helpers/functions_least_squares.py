"""torch.linalg.lstsq, which MindSpore has for full rank and without gradient only."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_decompose import linalg_pinv
from migrate.emit.helpers.functions_svd import matrix_rank, svdvals


def lstsq(A, B, rcond=None, *, driver=None):
    """Solution, residuals, rank and singular values; what torch's driver leaves out is empty."""
    driver = "gelsy" if driver is None else driver
    rows, columns = A.shape[-2:]
    vector = A.ndim - 1 == B.ndim and B.shape == A.shape[:-1]
    right_side = B.expand_dims(-1) if vector else B
    solution = ops.matmul(linalg_pinv(A, rtol=rcond), right_side)
    residuals = ops.zeros((0,), A.dtype)
    rank = ops.zeros((0,), mindspore.int64)
    if driver != "gels":
        rank = matrix_rank(A, rtol=rcond)
    if rows > columns and driver != "gelsy":
        full = driver == "gels" or bool((rank == columns).all())
        missed = ops.matmul(A, solution) - right_side
        residuals = ops.sum(ops.square(missed), dim=-2) if full else residuals
    values = svdvals(A) if driver in ("gelss", "gelsd") else ops.zeros((0,), A.dtype)
    return (solution.squeeze(-1) if vector else solution), residuals, rank, values
