"""torch.optim.ASGD, for networks of any number of parameters."""

from functools import partial

import mindspore
from mindspore import ops

from migrate.emit.helpers.optim_mapped import MappedOptimizer, group_numbers


def _asgd(later, mu, lambd, weight_decay, param, grad, average, eta):
    if weight_decay != 0:
        grad = grad + weight_decay * param
    ops.assign(param, param * (1 - lambd * eta) - eta * grad)
    ops.assign(average, average + (param - average) * mu)
    ops.assign(eta, later)
    return True


class ASGD(MappedOptimizer):
    """Stochastic gradient descent that also keeps the average of the weights, in `ax`."""

    def __init__(
        self,
        params,
        lr=0.01,
        lambd=0.0001,
        alpha=0.75,
        t0=1000000.0,
        weight_decay=0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.ax = self.moments("ax")
        # A step is taken with the size that the step before it computed.
        self.eta = self.numbers("eta", [float(self.lrs[n]) for n in group_numbers(self)])

    @mindspore.jit
    def update(self, gradients, number, lr, lambd, alpha, t0, weight_decay):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        count = self.state_step
        mu = 1 / ops.maximum(count - 1 - t0, 1.0)
        later = lr / ops.pow(1 + lambd * lr * count, alpha)
        step = partial(_asgd, later, mu, lambd, weight_decay)
        averages, etas = self.ax[start:end], self.eta[start:end]
        self.hyper_map(step, self.parameters[start:end], gradients, averages, etas)
        return True
