"""torch's wrappers of networks for several devices.

DistributedDataParallel marks the parameters of its network; whoever computes gradients of marked
parameters has them averaged. A program without the wrapper, or with one process, pays nothing.
"""

import contextlib

import mindspore
from mindspore import nn, ops

from migrate.emit.helpers.helper_origin import uses
from migrate.emit.helpers.modules_parameter_names import named_buffers
from migrate.emit.helpers.train_collectives import all_reduce, broadcast
from migrate.emit.helpers.train_distributed import get_world_size, in_group

_BUCKET = 25 * 2**20  # values that go over the wire in one piece, as torch has it


class DataParallel(nn.Cell):
    """A network under the name `module`. A process of MindSpore has one device: the batch stays
    whole.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__(auto_prefix=False)
        self.module = module
        self.training = module.training

    def construct(self, *inputs, **options):
        return self.module(*inputs, **options)


class DistributedDataParallel(DataParallel):
    """All processes start from the weights of the first, and average their gradients."""

    def __init__(
        self,
        module,
        device_ids=None,
        output_device=None,
        dim=0,
        broadcast_buffers=True,
        init_sync=True,
        process_group=None,
        **options,
    ):
        super().__init__(module)
        self.averaging = None
        if not in_group() or get_world_size() == 1:
            return
        buffers = [buffer for _, buffer in named_buffers(module)]
        if init_sync:
            _take_from_first([*module.get_parameters(), *buffers])
        synchronised = buffers if broadcast_buffers in (True, None) else []
        self.averaging = _Averaging(get_world_size(), synchronised)
        for parameter in module.get_parameters():
            parameter.averaging = self.averaging

    def __call__(self, *inputs, **options):
        if self.averaging is not None:
            self.averaging.before_forward()
        return super().__call__(*inputs, **options)

    @property
    def require_backward_grad_sync(self):
        """Off: torch does not average, nor broadcast buffers before the next forward pass. Here
        gradients are averaged every time: the sum of averages is the average of sums.
        """
        return self.averaging is None or self.averaging.synchronises

    @require_backward_grad_sync.setter
    def require_backward_grad_sync(self, flag):
        if self.averaging is not None:
            self.averaging.synchronises = flag

    @contextlib.contextmanager
    def no_sync(self):
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before


class _Averaging:
    """What the processes do for the parameters that carry it; value_and_grad and backward ask."""

    def __init__(self, size, buffers):
        self.size, self.buffers = size, buffers
        self.in_step = False
        if uses("averaging that is switched off"):
            self.synchronises = self.due = True

    def before_forward(self):
        """Buffers are those of the first process, once before each forward pass."""
        if self.in_step:
            return
        due = True
        if uses("averaging that is switched off"):
            # torch leaves them as they are behind a forward pass without synchronisation.
            due, self.due = self.due, self.synchronises
        if self.buffers and due:
            _take_from_first(self.buffers)

    def average(self, gradients):
        """The mean of each gradient over the processes, several in one piece."""
        averaged = list(gradients)
        for piece in _pieces(gradients):
            flat = ops.cat([gradients[place].reshape(-1) for place in piece])
            means = all_reduce(flat.astype(mindspore.float32)) / self.size
            start = 0
            for place in piece:
                old = gradients[place]
                part = means[start : start + old.size]
                averaged[place] = part.reshape(old.shape).astype(old.dtype)
                start += old.size
        return averaged


def _pieces(tensors):
    """Places of tensors that go over the wire together."""
    pieces, space = [], {}
    for place, tensor in enumerate(tensors):
        known = space.get(tensor.dtype)
        if known is None or known[1] < tensor.size:
            known = space[tensor.dtype] = [[], _BUCKET]
            pieces.append(known[0])
        known[0].append(place)
        known[1] -= tensor.size
    return pieces


def _take_from_first(parameters):
    """Every process gets the values of the first."""
    values = [p.value() if isinstance(p, mindspore.Parameter) else p for p in parameters]
    for piece in _pieces(values):
        flat = broadcast(ops.cat([values[place].reshape(-1) for place in piece]), src=0)
        start = 0
        for place in piece:
            size, parameter = values[place].size, parameters[place]
            value = flat[start : start + size].reshape(parameter.shape)
            if isinstance(parameter, mindspore.Parameter):
                ops.assign(parameter, value)
            else:
                parameter.assign_value(value)
            start += size
