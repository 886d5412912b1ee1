"""torch.optim.NAdam with decoupled weight decay and maximize, which MindSpore's lacks."""

from functools import partial

import mindspore
from mindspore import ops

from migrate.emit.helpers.optim_adam import weight_decayed
from migrate.emit.helpers.optim_mapped import MappedOptimizer


def _nadam(rates, decay, numbers, param, grad, mean, square, product):
    lr, mu, mu_next, correction = rates
    ops.assign(product, product * mu)
    now, ahead = lr * (1 - mu) / (1 - product), lr * mu_next / (1 - product * mu_next)
    beta1, beta2, eps = numbers
    grad = weight_decayed(param, grad, lr, *decay)
    ops.assign(mean, beta1 * mean + (1 - beta1) * grad)
    ops.assign(square, beta2 * square + (1 - beta2) * grad * grad)
    size = ops.sqrt(square / correction) + eps
    ops.assign(param, param - (now * grad + ahead * mean) / size)
    return True


class NAdam(MappedOptimizer):
    """Adam that looks one step of momentum ahead."""

    def __init__(
        self,
        params,
        lr=0.002,
        betas=(0.9, 0.999),
        eps=1e-08,
        weight_decay=0,
        momentum_decay=0.004,
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
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.mu_product = self.numbers("mu_product", 1.0)
        self.exp_avg = self.moments("exp_avg")
        self.exp_avg_sq = self.moments("exp_avg_sq")

    @mindspore.jit
    def update(self, gradients, number, lr, betas, eps, weight_decay, momentum_decay, decoupled):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        count = self.state_step
        mu = betas[0] * (1 - 0.5 * ops.pow(0.96, count * momentum_decay))
        mu_next = betas[0] * (1 - 0.5 * ops.pow(0.96, (count + 1) * momentum_decay))
        rates = lr, mu, mu_next, 1 - ops.pow(betas[1], count)
        step = partial(_nadam, rates, (weight_decay, decoupled), (betas[0], betas[1], eps))
        params, means = self.parameters[start:end], self.exp_avg[start:end]
        squares, products = self.exp_avg_sq[start:end], self.mu_product[start:end]
        self.hyper_map(step, params, gradients, means, squares, products)
        return True
