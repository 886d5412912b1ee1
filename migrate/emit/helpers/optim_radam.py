"""torch.optim.RAdam with decoupled weight decay and maximize, which MindSpore's lacks."""

from functools import partial

import mindspore
from mindspore import ops

from migrate.emit.helpers.optim_adam import weight_decayed
from migrate.emit.helpers.optim_mapped import MappedOptimizer


def _radam(rates, decay, numbers, param, grad, mean, square):
    lr, step_size, rectified, trusted = rates
    beta1, beta2, eps = numbers
    grad = weight_decayed(param, grad, lr, *decay)
    ops.assign(mean, beta1 * mean + (1 - beta1) * grad)
    ops.assign(square, beta2 * square + (1 - beta2) * grad * grad)
    adapted = rectified / (ops.sqrt(square) + eps)
    scale = ops.where(trusted, adapted, ops.ones_like(adapted))
    ops.assign(param, param - step_size * mean * scale)
    return True


class RAdam(MappedOptimizer):
    """Adam that trusts its second moment only once enough steps have been seen."""

    def __init__(
        self,
        params,
        lr=0.001,
        betas=(0.9, 0.999),
        eps=1e-08,
        weight_decay=0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.exp_avg = self.moments("exp_avg")
        self.exp_avg_sq = self.moments("exp_avg_sq")

    @mindspore.jit
    def update(self, gradients, number, lr, betas, eps, weight_decay, decoupled):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        beta1, beta2 = betas
        count = self.state_step
        power = ops.pow(beta2, count)
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * count * power / (1 - power)
        rectified = (length - 4) * (length - 2) * longest
        rectified = rectified / ((longest - 4) * (longest - 2) * length)
        rectified = ops.sqrt(ops.maximum(rectified, 0.0)) * ops.sqrt(1 - power)
        rates = lr, lr / (1 - ops.pow(beta1, count)), rectified, length > 5.0
        step = partial(_radam, rates, (weight_decay, decoupled), (beta1, beta2, eps))
        params, means = self.parameters[start:end], self.exp_avg[start:end]
        self.hyper_map(step, params, gradients, means, self.exp_avg_sq[start:end])
        return True
