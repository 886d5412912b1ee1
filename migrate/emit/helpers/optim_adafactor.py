"""torch.optim.Adafactor, which MindSpore lacks in this form."""

from functools import partial

import mindspore
from mindspore import Parameter, ParameterTuple, ops

from migrate.emit.helpers.optim_mapped import MappedOptimizer


def _zeros_like_shape(parameter, shape, prefix):
    zeros = ops.zeros(shape, parameter.dtype)
    return Parameter(zeros, name=f"{prefix}.{parameter.name}", requires_grad=False)


def _adafactor(lr, rate, new_share, eps, d, weight_decay, param, grad, row, column):
    size = rate * ops.maximum(ops.sqrt((param * param).mean()), eps[1])
    square = grad * grad
    if param.ndim > 1:
        ops.assign(row, row + new_share * (square.mean(-1, keep_dims=True) - row))
        ops.assign(column, column + new_share * (square.mean(-2, keep_dims=True) - column))
        variance = ops.matmul(row, column)
        variance = variance / ops.maximum(row.mean(-2, keep_dims=True), eps[0])
    else:
        ops.assign(row, row + new_share * (square - row))
        variance = row
    change = grad * ops.rsqrt(ops.maximum(variance, eps[0] * eps[0]))
    size = size / ops.maximum(ops.sqrt((change * change).mean()) / d, 1.0)
    ops.assign(param, param * (1 - lr * weight_decay) - size * change)
    return True


class Adafactor(MappedOptimizer):
    """Second moments kept as a row and a column for each matrix; the update has a bounded size."""

    def __init__(
        self,
        params,
        lr=0.01,
        beta2_decay=-0.8,
        eps=(None, 0.001),
        d=1.0,
        weight_decay=0.0,
        *,
        foreach=None,
        maximize=False,
    ):
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": (1.1920928955078125e-07 if eps[0] is None else eps[0], eps[1]),
            "d": d,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        rows, columns = [], []
        for p in self.parameters:
            # A vector keeps its whole second moment in `rows`.
            rows.append(
                _zeros_like_shape(p, (*p.shape[:-1], 1) if p.ndim > 1 else p.shape, "row_var")
            )
            column = (*p.shape[:-2], 1, p.shape[-1]) if p.ndim > 1 else (1,)
            columns.append(_zeros_like_shape(p, column, "col_var"))
        self.row_var, self.col_var = ParameterTuple(rows), ParameterTuple(columns)

    @mindspore.jit
    def update(self, gradients, number, lr, beta2_decay, eps, d, weight_decay):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        new_share = ops.pow(self.state_step, beta2_decay)
        rate = ops.minimum(lr, 1 / ops.sqrt(self.state_step))
        step = partial(_adafactor, lr, rate, new_share, eps, d, weight_decay)
        rows, columns = self.row_var[start:end], self.col_var[start:end]
        self.hyper_map(step, self.parameters[start:end], gradients, rows, columns)
        return True
