"""torch.optim.Adadelta, for networks of any number of parameters."""

from functools import partial

import mindspore
from mindspore import ops

from migrate.emit.helpers.optim_mapped import MappedOptimizer


def _adadelta(lr, rho, eps, weight_decay, param, grad, square, changes):
    if weight_decay != 0:
        grad = grad + weight_decay * param
    ops.assign(square, rho * square + (1 - rho) * grad * grad)
    change = ops.sqrt(changes + eps) / ops.sqrt(square + eps) * grad
    ops.assign(changes, rho * changes + (1 - rho) * change * change)
    ops.assign(param, param - lr * change)
    return True


class Adadelta(MappedOptimizer):
    """Gradients scaled by the root of earlier changes over the root of earlier gradients."""

    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-06,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.square_avg = self.moments("square_avg")
        self.acc_delta = self.moments("acc_delta")

    @mindspore.jit
    def update(self, gradients, number, lr, rho, eps, weight_decay):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        squares, changes = self.square_avg[start:end], self.acc_delta[start:end]
        step = partial(_adadelta, lr, rho, eps, weight_decay)
        self.hyper_map(step, self.parameters[start:end], gradients, squares, changes)
        return True
