"""torch.optim.Rprop, for networks of any number of parameters."""

from functools import partial

import mindspore
from mindspore import ops

from migrate.emit.helpers.optim_mapped import MappedOptimizer


def _rprop(etas, step_sizes, param, grad, earlier, size):
    turned = ops.sign(grad * earlier)
    factor = ops.ones_like(grad)
    factor = factor.masked_fill(turned > 0, etas[1]).masked_fill(turned < 0, etas[0])
    ops.assign(size, ops.clamp(size * factor, step_sizes[0], step_sizes[1]))
    grad = grad.masked_fill(turned < 0, 0.0)
    ops.assign(param, param - ops.sign(grad) * size)
    ops.assign(earlier, grad)
    return True


class Rprop(MappedOptimizer):
    """Steps that grow while the gradient keeps its sign and shrink when it turns."""

    def __init__(
        self,
        params,
        lr=0.01,
        etas=(0.5, 1.2),
        step_sizes=(1e-06, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        defaults = {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize}
        super().__init__(params, defaults)
        self.prev = self.moments("prev")
        self.step_size = self.moments("step_size", "ones")
        for number, rate in enumerate(self.lrs):
            start, end = self.group_start_id[number], self.group_start_id[number + 1]
            for size in self.step_size[start:end]:
                size.set_data(ops.full(size.shape, float(rate), dtype=size.dtype))

    @mindspore.jit
    def update(self, gradients, number, lr, etas, step_sizes):
        """One step for the parameters of one group."""
        start, end = self.group_start_id[number], self.group_start_id[number + 1]
        earlier, sizes = self.prev[start:end], self.step_size[start:end]
        step = partial(_rprop, etas, step_sizes)
        self.hyper_map(step, self.parameters[start:end], gradients, earlier, sizes)
        return True
