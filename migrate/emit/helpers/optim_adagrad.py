"""torch.optim.Adagrad, for networks of any number of parameters."""

from functools import partial

import mindspore
from mindspore import ops

from migrate.emit.helpers.optim_mapped import MappedOptimizer


def _adagrad(lr, eps, weight_decay, param, grad, total):
    if weight_decay != 0:
        grad = grad + weight_decay * param
    ops.assign(total, total + grad * grad)
    ops.assign(param, param - lr * grad / (ops.sqrt(total) + eps))
    return True


class Adagrad(MappedOptimizer):
    """Gradients divided by the root of the sum of their squares."""

    def __init__(
        self,
        params,
        lr=0.01,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.sum = self.moments("sum", float(initial_accumulator_value))

    @mindspore.jit
    def update(self, gradients, number, lr, lr_decay, eps, weight_decay):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        lr = lr / (1 + (self.state_step - 1) * lr_decay)
        step = partial(_adagrad, lr, eps, weight_decay)
        self.hyper_map(step, self.parameters[start:end], gradients, self.sum[start:end])
        return True
