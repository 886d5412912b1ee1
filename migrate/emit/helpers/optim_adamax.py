"""torch.optim.Adamax, for networks of any number of parameters."""

from functools import partial

import mindspore
from mindspore import ops

from migrate.emit.helpers.optim_mapped import MappedOptimizer


def _adamax(step_size, betas, eps, weight_decay, param, grad, mean, largest):
    if weight_decay != 0:
        grad = grad + weight_decay * param
    ops.assign(mean, betas[0] * mean + (1 - betas[0]) * grad)
    ops.assign(largest, ops.maximum(betas[1] * largest, ops.abs(grad) + eps))
    ops.assign(param, param - step_size * mean / largest)
    return True


class Adamax(MappedOptimizer):
    """Adam with the largest gradient in the place of the root of the squares."""

    def __init__(
        self,
        params,
        lr=0.002,
        betas=(0.9, 0.999),
        eps=1e-08,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.exp_avg = self.moments("exp_avg")
        self.exp_inf = self.moments("exp_inf")

    @mindspore.jit
    def update(self, gradients, number, lr, betas, eps, weight_decay):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        means, largest = self.exp_avg[start:end], self.exp_inf[start:end]
        step_size = lr / (1 - ops.pow(betas[0], self.state_step))
        step = partial(_adamax, step_size, betas, eps, weight_decay)
        self.hyper_map(step, self.parameters[start:end], gradients, means, largest)
        return True
