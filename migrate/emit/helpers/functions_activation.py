"""Activations and dropout with torch's arguments, and gradients that are right everywhere."""

import math

import mindspore
from mindspore import ops


def selu(input, inplace=False):
    """torch's selu; MindSpore's CPU gradient is wrong for negative inputs."""
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    below = ops.where(input > 0, ops.zeros_like(input), input)  # ops.minimum would lose NaN
    return scale * ops.where(input > 0, input, alpha * (ops.exp(below) - 1))


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """torch's leaky_relu; where the input is 0, MindSpore's gradient is the mean of both slopes."""
    return ops.where(input > 0, input, input * negative_slope)


def mish(input, inplace=False):
    """torch's mish, x * tanh(log(1 + exp(x))) written as a fraction; MindSpore's exceeds float32
    from 45 on, and its gradient is off by 1e-3.
    """
    most = 5 if input.dtype == mindspore.float16 else 20  # beyond it the fraction is 1
    power = ops.exp(ops.where(input < most, input, ops.full_like(input, most)))
    part = power * (power + 2)
    return input * (part / (part + 2))


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """torch's softmax; without dim it takes 0 for 0, 1 or 3 dimensions, else 1."""
    axis = dim if dim is not None else (0 if input.ndim in (0, 1, 3) else 1)
    input = input if dtype is None else input.astype(dtype)
    # One value is the whole of its axis, and a gradient of MindSpore's CPU kernel over such an axis
    # makes all later ones wrong. Infinite values give no number, as in torch.
    if input.ndim == 0 or input.shape[axis] == 1:
        return input - input + 1
    return ops.softmax(input, axis=axis)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """torch's log_softmax; without dim it takes 0 for 0, 1 or 3 dimensions, else 1."""
    axis = dim if dim is not None else (0 if input.ndim in (0, 1, 3) else 1)
    input = input if dtype is None else input.astype(dtype)
    return ops.zeros_like(input) if input.ndim == 0 else ops.log_softmax(input, axis=axis)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """torch's softmin."""
    return softmax(-input, dim, _stacklevel, dtype)


def prelu(input, weight):
    """torch's prelu; the weight has one element, or one for every channel."""
    if weight.size > 1:
        weight = weight.reshape((-1,) + (1,) * (input.ndim - 2))
    else:
        weight = weight.reshape(())
    return ops.where(input > 0, input, weight * input)


def rrelu(input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False):
    """torch's rrelu: a random slope in training, the middle one otherwise."""
    slope = ops.rand_like(input) * (upper - lower) + lower if training else (lower + upper) / 2
    return ops.where(input > 0, input, input * slope)


def _keep_mask(input, shape, p):
    """Ones where a random draw keeps the element."""
    return (ops.rand(shape) >= p).astype(input.dtype)


def _alpha_dropout(input, shape, p, training):
    """Dropout to SELU's saturation value that keeps mean and variance."""
    if not training or p == 0.0:
        return input
    saturation = -1.7580993408473766
    keep = _keep_mask(input, shape, p)
    scale = 1.0 / math.sqrt((saturation**2 * p + 1) * (1 - p)) if p < 1 else 0.0
    return (input * keep + saturation * (1 - keep)) * scale - scale * saturation * p


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """torch's alpha_dropout."""
    return _alpha_dropout(input, input.shape, p, training)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """torch's feature_alpha_dropout: whole channels at a time."""
    shape = input.shape[:2] + (1,) * (input.ndim - 2)
    return _alpha_dropout(input, shape, p, training)


def feature_dropout(input, p, train):
    """torch's dropout of whole channels, for any number of dimensions."""
    if not train or p == 0.0:
        return input
    if p == 1.0:
        return input * 0
    shape = input.shape[:2] + (1,) * (input.ndim - 2)
    return input * _keep_mask(input, shape, p) / (1 - p)


def elu(input, alpha=1.0, inplace=False):
    """torch's elu with any alpha; MindSpore's takes 1.0 only."""
    below = ops.where(input > 0, ops.zeros_like(input), input)  # ops.minimum halves the slope at 0
    return ops.where(input > 0, input, alpha * ops.expm1(below))


def dropout(input, p=0.5, training=True, inplace=False):
    """torch's dropout; MindSpore's does not drop everything."""
    if training and p == 1:
        return input * 0
    return ops.dropout(input, p=p, training=training)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """torch's dropout1d: whole channels, with or without a batch."""
    if input.ndim == 3:
        return feature_dropout(input, p, training)
    return feature_dropout(input.expand_dims(0), p, training).squeeze(0)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """torch's dropout2d: whole channels of the second axis, whatever the rank."""
    return feature_dropout(input, p, training)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """torch's dropout3d: whole channels, with or without a batch."""
    if input.ndim == 5:
        return feature_dropout(input, p, training)
    return feature_dropout(input.expand_dims(0), p, training).squeeze(0)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """torch's gumbel_softmax; with hard=True the gradient is that of the soft sample."""
    noise = -ops.log(-ops.log(ops.rand_like(logits) + 1e-20) + 1e-20)
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    place = ops.argmax(soft, dim=dim, keepdim=True)
    chosen = ops.tensor_scatter_elements(
        ops.zeros_like(soft), place, ops.ones_like(place).astype(soft.dtype), axis=dim
    )
    return ops.stop_gradient(chosen - soft) + soft


def channel_shuffle(input, groups):
    """torch's channel_shuffle; MindSpore's has no gradient."""
    shape = input.shape
    grouped = input.reshape((shape[0], groups, shape[1] // groups, *shape[2:]))
    return grouped.swapaxes(1, 2).reshape(shape)


def one_hot(tensor, num_classes=-1):
    """torch's one_hot; without a number of classes the largest value decides."""
    if num_classes == -1:
        num_classes = int(tensor.max()) + 1
    return ops.one_hot(tensor, num_classes)


def embedding(
    input,
    weight,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    """torch's embedding; the row of padding_idx gets no gradient."""
    if max_norm is not None or scale_grad_by_freq:
        raise NotImplementedError("max_norm and scale_grad_by_freq have no counterpart here")
    rows = ops.gather(weight, input, 0)
    if padding_idx is None:
        return rows
    padding_idx = padding_idx + weight.shape[0] if padding_idx < 0 else padding_idx
    return ops.where((input == padding_idx).expand_dims(-1), ops.stop_gradient(rows), rows)


def logsigmoid(input):
    """torch's logsigmoid."""
    return ops.minimum(input, 0.0) - ops.log1p(ops.exp(-ops.abs(input)))
