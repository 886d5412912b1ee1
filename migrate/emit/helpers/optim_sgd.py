"""torch.optim.SGD; mindspore.nn.SGD would leave BatchNorm out of the weight decay."""

from functools import partial

import mindspore
from mindspore import ops

from migrate.emit.helpers.optim_mapped import MappedOptimizer


def _sgd(kernel, lr, momentum, param, grad, buffer, stat):
    return kernel(param, grad, lr, buffer, momentum, stat)


def _wide_sgd(settings, lr, momentum, param, grad, buffer, first):
    """The same without the kernel, which has no double precision."""
    dampening, weight_decay, nesterov = settings
    lr, momentum = ops.cast(lr, param.dtype), ops.cast(momentum, param.dtype)
    grad = grad + weight_decay * param
    ops.assign(buffer, momentum * buffer + (1 - dampening + dampening * first) * grad)
    ops.assign(first, ops.zeros_like(first))
    ops.assign(param, param - lr * (grad + momentum * buffer if nesterov else buffer))
    return True


class SGD(MappedOptimizer):
    """Stochastic gradient descent with torch's momentum, dampening and weight decay."""

    def __init__(
        self,
        params,
        lr=0.001,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": float(momentum),
            "dampening": float(dampening),
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.momentum_buffer = self.moments("momentum_buffer")
        # One until the first step, which takes the gradient as it is: no dampening.
        self.first = self.moments("first", "ones")

    @mindspore.jit
    def update(self, gradients, number, lr, momentum, dampening, weight_decay, nesterov):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        momentum = ops.cast(momentum, mindspore.float32)
        if self.wide:
            step = partial(_wide_sgd, (dampening, weight_decay, nesterov), lr, momentum)
        else:
            kernel = ops.SGD(float(dampening), weight_decay, nesterov)
            step = partial(_sgd, kernel, lr, momentum)
        buffers, first = self.momentum_buffer[start:end], self.first[start:end]
        self.hyper_map(step, self.parameters[start:end], gradients, buffers, first)
        return True
