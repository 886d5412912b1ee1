"""Layers whose weight is computed at every call from other parameters: weight and spectral norm."""

import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from migrate.emit.helpers.modules_conv_transpose import ConvTranspose1d, ConvTranspose2d
from migrate.emit.helpers.modules_members import buffer


class _ComputedWeight:
    """What is read of the weight is computed; what is written to it is gone at the next call."""

    @property
    def weight(self):
        return self.kernel() * 1.0  # a tensor of its own: MindSpore writes to no view


class _WeightNorm(_ComputedWeight):
    """weight = g * v / |v|, a length for each slice along one axis."""

    def kernel(self):
        v = self.weight_v
        length = ops.sqrt((v * v).sum(self.norm_axes, keepdims=True))
        return self.shaped(v * (self.weight_g / length))


class _SpectralNorm(_ComputedWeight):
    """weight / its largest singular value, which power iteration follows while training."""

    def kernel(self):
        weight = self.weight_orig
        matrix = weight.swapaxes(0, self.norm_axis).reshape(weight.shape[self.norm_axis], -1)
        u, v = self.weight_u, self.weight_v
        if self.training:
            fixed = ops.stop_gradient(matrix)
            for _ in range(self.norm_rounds):
                v = self.unit(ops.matmul(fixed.T, u))
                u = self.unit(ops.matmul(fixed, v))
            ops.assign(self.weight_u, u)
            ops.assign(self.weight_v, v)
        u, v = ops.stop_gradient(u), ops.stop_gradient(v)
        return self.shaped(weight / (u * ops.matmul(matrix, v)).sum())

    def unit(self, vector):
        return vector / ops.maximum(ops.sqrt((vector * vector).sum()), self.norm_eps)


class _KernelDense(nn.Dense):
    def shaped(self, weight):
        return weight

    def construct(self, x):
        if self.has_bias:
            return ops.dense(x, self.kernel(), self.bias)
        return ops.dense(x, self.kernel())


class _KernelConv2d(nn.Conv2d):
    def shaped(self, weight):
        return weight

    def construct(self, x):
        x = self.conv2d(x, self.kernel())
        return self.bias_add(x, self.bias) if self.has_bias else x


class _KernelConv1d(nn.Conv1d):
    def shaped(self, weight):
        return weight.expand_dims(2)

    def construct(self, x):
        x = self.conv2d(x.expand_dims(2), self.kernel())
        x = self.bias_add(x, self.bias) if self.has_bias else x
        return x.squeeze(2)


class _KernelConvTranspose2d(ConvTranspose2d):
    def shaped(self, weight):
        return weight


class _KernelConvTranspose1d(ConvTranspose1d):
    def shaped(self, weight):
        return weight.expand_dims(2)


class _WeightNormDense(_WeightNorm, _KernelDense):
    pass


class _WeightNormConv1d(_WeightNorm, _KernelConv1d):
    pass


class _WeightNormConv2d(_WeightNorm, _KernelConv2d):
    pass


class _WeightNormConvTranspose1d(_WeightNorm, _KernelConvTranspose1d):
    pass


class _WeightNormConvTranspose2d(_WeightNorm, _KernelConvTranspose2d):
    pass


class _SpectralNormDense(_SpectralNorm, _KernelDense):
    pass


class _SpectralNormConv1d(_SpectralNorm, _KernelConv1d):
    pass


class _SpectralNormConv2d(_SpectralNorm, _KernelConv2d):
    pass


class _SpectralNormConvTranspose1d(_SpectralNorm, _KernelConvTranspose1d):
    pass


class _SpectralNormConvTranspose2d(_SpectralNorm, _KernelConvTranspose2d):
    pass


def _unnormed(module, kinds, what):
    """The class that computes the module's weight, and the weight in torch's shape."""
    for base, normed in kinds:
        if isinstance(module, base):
            weight = module.weight.asnumpy()
            flat = base in (nn.Conv1d, ConvTranspose1d)
            if type(module).construct is not base.construct:
                # A class of the program's own: its construct stays, and computes with the weight.
                norm, plain = normed.__mro__[1], normed.__mro__[3]
                # The graph's parser finds the class of a super() by its name: this needs another.
                name = "_Normed" + type(module).__name__
                normed = type(name, (norm, type(module), plain), {"shown_as": type(module)})
            return normed, weight.squeeze(2) if flat else weight
    raise NotImplementedError(f"{what} of a {type(module).__name__}")


def _replace_weight(module, normed, **parameters):
    """Put the parameters in the weight's place, under the names that torch gives them."""
    full = module.weight.name
    del module.weight
    for name, parameter in parameters.items():
        parameter.name = full.removesuffix("weight") + name
        setattr(module, name, parameter)
    module.__class__ = normed
    return module


def weight_norm(module, name="weight", dim=0):
    """torch's weight_norm of a Linear, Conv1d, Conv2d or a transposed one."""
    normed, weight = _unnormed(
        module,
        (
            (nn.Dense, _WeightNormDense),
            (nn.Conv1d, _WeightNormConv1d),
            (nn.Conv2d, _WeightNormConv2d),
            (ConvTranspose1d, _WeightNormConvTranspose1d),
            (ConvTranspose2d, _WeightNormConvTranspose2d),
        ),
        "weight_norm",
    )
    axes = tuple(i for i in range(weight.ndim) if dim is None or i != dim % weight.ndim)
    module.norm_axes = axes
    length = np.sqrt((weight * weight).sum(axes, keepdims=True))
    return _replace_weight(
        module,
        normed,
        weight_g=Parameter(Tensor(length.reshape(()) if dim is None else length)),
        weight_v=Parameter(Tensor(weight)),
    )


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """torch's spectral_norm of a Linear, Conv1d, Conv2d or a transposed one."""
    normed, weight = _unnormed(
        module,
        (
            (nn.Dense, _SpectralNormDense),
            (nn.Conv1d, _SpectralNormConv1d),
            (nn.Conv2d, _SpectralNormConv2d),
            (ConvTranspose1d, _SpectralNormConvTranspose1d),
            (ConvTranspose2d, _SpectralNormConvTranspose2d),
        ),
        "spectral_norm",
    )
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d)) else 0
    module.norm_axis, module.norm_rounds, module.norm_eps = dim, n_power_iterations, eps
    height = weight.shape[dim]
    u = np.random.randn(height).astype(weight.dtype)
    v = np.random.randn(weight.size // height).astype(weight.dtype)
    return _replace_weight(
        module,
        normed,
        weight_orig=Parameter(Tensor(weight)),
        weight_u=buffer(Tensor(u / np.linalg.norm(u)), "weight_u"),
        weight_v=buffer(Tensor(v / np.linalg.norm(v)), "weight_v"),
    )


def remove_norm(module, name="weight"):
    """The plain layer again, with the weight that is computed now."""
    parts = ("weight_g", "weight_v") if isinstance(module, _WeightNorm) else ()
    if isinstance(module, _SpectralNorm):
        parts = ("weight_orig", "weight_u", "weight_v")
    if not parts:
        raise ValueError(f"nothing normalises the weight of this {type(module).__name__}")
    full = getattr(module, parts[0]).name.removesuffix(parts[0]) + "weight"
    weight = Parameter(Tensor(module.kernel().asnumpy()), name=full)
    for part in parts:
        delattr(module, part)
    module.__class__ = _plain_class(type(module))
    module.weight = weight
    return module


def _plain_class(normed):
    """The program's own class; else the layer behind the norm and what asks it for the kernel."""
    return getattr(normed, "shown_as", None) or normed.__mro__[4]
