"""einops' layers."""

import numpy as np
from mindspore import Parameter, nn
from mindspore.common.initializer import Uniform, initializer

from migrate.emit.helpers.functions_einops import (
    _einops_axes,
    _einops_names,
    _einops_run,
    einops_einsum,
    rearrange,
)


class Rearrange(nn.Cell):
    """einops.layers.torch.Rearrange."""

    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.axes_lengths = axes_lengths
        self.axes = tuple(axes_lengths.keys())
        self.lengths = tuple(axes_lengths.values())

    def construct(self, input):
        return _einops_run(input, self.pattern, "", self.axes, self.lengths)


class Reduce(nn.Cell):
    """einops.layers.torch.Reduce."""

    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.reduction = reduction
        self.axes_lengths = axes_lengths
        self.axes = tuple(axes_lengths.keys())
        self.lengths = tuple(axes_lengths.values())

    def construct(self, input):
        return _einops_run(input, self.pattern, self.reduction, self.axes, self.lengths)


class EinMix(nn.Cell):
    """einops.layers.torch.EinMix: an einsum with a weight, axes split before and joined after."""

    def __init__(self, pattern, weight_shape, bias_shape=None, **axes_lengths):
        super().__init__()
        left, _, right = pattern.partition("->")
        inputs, outputs = (_einops_names(_einops_axes(side)) for side in (left, right))
        weights = weight_shape.split()
        self.split = left + " -> " + " ".join(inputs)
        self.mix = " ".join(inputs) + ", " + weight_shape + " -> " + " ".join(outputs)
        self.join = " ".join(outputs) + " -> " + right
        self.axes = tuple(name for name in axes_lengths if name in inputs)
        self.lengths = tuple(axes_lengths[name] for name in self.axes)
        mixed = [axes_lengths[name] for name in weights if name not in outputs]
        fan_in = int(np.prod(mixed))
        shape = [axes_lengths[name] for name in weights]
        self.weight = self._uniform(shape, (3 / fan_in) ** 0.5, "weight")
        self.bias = None
        if bias_shape is not None:
            own = bias_shape.split()
            shape = [axes_lengths[n] if n in own else 1 for n in outputs if n != "..."]
            self.bias = self._uniform(shape, (1 / fan_in) ** 0.5, "bias")

    def _uniform(self, shape, bound, name):
        return Parameter(initializer(Uniform(bound), shape), name=name)

    def construct(self, input):
        input = _einops_run(input, self.split, "", self.axes, self.lengths)
        result = einops_einsum(input, self.weight, self.mix)
        if self.bias is not None:
            result = result + self.bias
        return rearrange(result, self.join)
