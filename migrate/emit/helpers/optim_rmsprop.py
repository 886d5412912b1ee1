"""torch.optim.RMSprop, for networks of any number of parameters."""

from functools import partial

import mindspore
from mindspore import ops

from migrate.emit.helpers.optim_mapped import MappedOptimizer


def _rmsprop(lr, numbers, centered, param, grad, square, mean, buffer):
    alpha, eps, weight_decay, momentum = numbers
    if weight_decay != 0:
        grad = grad + weight_decay * param
    ops.assign(square, alpha * square + (1 - alpha) * grad * grad)
    variance = square
    if centered:
        ops.assign(mean, alpha * mean + (1 - alpha) * grad)
        variance = square - mean * mean
    change = grad / (ops.sqrt(variance) + eps)
    if momentum != 0:
        ops.assign(buffer, momentum * buffer + change)
        change = buffer
    ops.assign(param, param - lr * change)
    return True


class RMSprop(MappedOptimizer):
    """Gradients divided by the root of their mean square."""

    def __init__(
        self,
        params,
        lr=0.01,
        alpha=0.99,
        eps=1e-08,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        defaults = {
            "lr": lr,
            "momentum": float(momentum),
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.square_avg = self.moments("square_avg")
        # Memory only for what some group reads.
        self.grad_avg = self.square_avg
        if any(group["centered"] for group in self.param_groups):
            self.grad_avg = self.moments("grad_avg")
        self.momentum_buffer = self.moments("momentum_buffer")

    @mindspore.jit
    def update(self, gradients, number, lr, momentum, alpha, eps, centered, weight_decay):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        squares, means = self.square_avg[start:end], self.grad_avg[start:end]
        buffers = self.momentum_buffer[start:end]
        step = partial(_rmsprop, lr, (alpha, eps, weight_decay, momentum), centered)
        self.hyper_map(step, self.parameters[start:end], gradients, squares, means, buffers)
        return True
