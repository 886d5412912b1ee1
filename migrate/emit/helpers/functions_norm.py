"""Normalisation as functions, with torch's arguments."""

import mindspore
from mindspore import ops


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """torch's layer_norm; ops.layer_norm has no CPU kernel."""
    if input.size == 0:
        return input
    shape = tuple(normalized_shape)
    first = input.ndim - len(shape)
    weight = ops.ones(shape, input.dtype) if weight is None else weight
    bias = ops.zeros(shape, input.dtype) if bias is None else bias
    norm = ops.LayerNorm(begin_norm_axis=first, begin_params_axis=first, epsilon=eps)
    return norm(input, weight, bias)[0]


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """torch's rms_norm; without eps it uses the smallest step of the dtype."""
    if input.size == 0:
        return input
    axes = tuple(range(-len(normalized_shape), 0))
    if eps is None:
        eps = 0.0009765625 if input.dtype == mindspore.float16 else 1.1920928955078125e-07
    wide = input.astype(mindspore.float32) if input.dtype == mindspore.float16 else input
    scaled = wide * ops.rsqrt(ops.mean(ops.square(wide), axis=axes, keep_dims=True) + eps)
    scaled = scaled if weight is None else scaled * weight
    return scaled.astype(input.dtype)


def batch_norm(
    input,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    eps=1e-05,
):
    """torch's batch_norm; running values that are Parameters are updated in training."""
    if input.size == 0:
        return input
    axes = (0, *range(2, input.ndim))
    shape = (1, -1) + (1,) * (input.ndim - 2)
    mean, var = running_mean, running_var
    if training:
        mean = ops.mean(input, axis=axes)
        var = ops.mean(ops.square(input - mean.reshape(shape)), axis=axes)
        if running_mean is not None:
            count = input.size // input.shape[1]
            unbiased = ops.stop_gradient(var) * (count / (count - 1))
            mean_now = ops.stop_gradient(mean)
            ops.assign(running_mean, running_mean * (1 - momentum) + mean_now * momentum)
            ops.assign(running_var, running_var * (1 - momentum) + unbiased * momentum)
    scale = ops.rsqrt(var + eps)
    output = (input - mean.reshape(shape)) * scale.reshape(shape)
    if weight is not None:
        output = output * weight.reshape(shape)
    return output if bias is None else output + bias.reshape(shape)


def instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-05,
):
    """torch's instance_norm from each sample's own statistics, or from the running ones."""
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    axes = tuple(range(2, input.ndim))
    shape = (1, -1) + (1,) * (input.ndim - 2)
    mean = ops.mean(input, axis=axes, keep_dims=True)
    var = ops.mean(ops.square(input - mean), axis=axes, keep_dims=True)
    if running_mean is not None:
        count = input.size // (input.shape[0] * input.shape[1])
        mean_now = ops.mean(ops.stop_gradient(mean), axis=0).reshape((-1,))
        var_now = ops.mean(ops.stop_gradient(var), axis=0).reshape((-1,)) * (count / (count - 1))
        ops.assign(running_mean, running_mean * (1 - momentum) + mean_now * momentum)
        ops.assign(running_var, running_var * (1 - momentum) + var_now * momentum)
    output = (input - mean) * ops.rsqrt(var + eps)
    if weight is not None:
        output = output * weight.reshape(shape)
    return output if bias is None else output + bias.reshape(shape)


def local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0):
    """torch's local_response_norm: every channel divided by the mean square of its neighbours."""
    square = ops.square(input)
    channels = input.shape[1]
    total = ops.zeros_like(square)
    for offset in range(-(size // 2), (size - 1) // 2 + 1):
        first, last = max(0, -offset), min(channels, channels - offset)
        if first < last:
            part = square[:, first + offset : last + offset]
            before = ops.zeros((input.shape[0], first, *input.shape[2:]), input.dtype)
            after = ops.zeros((input.shape[0], channels - last, *input.shape[2:]), input.dtype)
            total = total + ops.cat((before, part, after), axis=1)
    return input / ops.pow(total * (alpha / size) + k, beta)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """torch's normalize, with a finite gradient at zero vectors."""
    if input.ndim == 0:
        return normalize(input.reshape((1,)), p, 0, eps).reshape(())
    if p == 2:
        total = ops.sum(ops.square(input), dim=dim, keepdim=True)
        return input * ops.rsqrt(ops.clamp(total, min=eps * eps))
    size = ops.vector_norm(input, ord=p, axis=dim, keepdims=True)
    return input / ops.clamp(size, min=eps)


def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """torch's native_layer_norm: the result, the means and the inverse deviations."""
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    if input.size == 0:
        nothing = ops.zeros(input.shape[: axes[0]] + (1,) * len(axes), input.dtype)
        return input.copy(), nothing, nothing.copy()
    mean = ops.mean(input, axis=axes, keep_dims=True)
    inverse = ops.rsqrt(ops.mean(ops.square(input - mean), axis=axes, keep_dims=True) + eps)
    output = (input - mean) * inverse
    output = output if weight is None else output * weight
    return (output if bias is None else output + bias), mean, inverse


def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """torch's native_group_norm: the result, the means and the inverse deviations."""
    if input.size == 0:
        nothing = ops.zeros((N, group), input.dtype)
        return input.copy(), nothing, nothing.copy()
    lanes = input.reshape((N, group, -1))
    mean = ops.mean(lanes, axis=2, keep_dims=True)
    inverse = ops.rsqrt(ops.mean(ops.square(lanes - mean), axis=2, keep_dims=True) + eps)
    output = ((lanes - mean) * inverse).reshape((N, C, HxW))
    output = output if weight is None else output * weight.reshape((C, 1))
    output = output if bias is None else output + bias.reshape((C, 1))
    return output.reshape(input.shape), mean.squeeze(2), inverse.squeeze(2)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    """torch's group_norm, of small operators: in a graph with maps of several sizes MindSpore
    2.10's own one gives gradients of weight and bias that nobody has summed up.
    """
    batch, channels = input.shape[0], input.shape[1]
    if channels % num_groups != 0:
        raise ValueError(f"{channels} channels do not make {num_groups} groups of one size")
    if 0 in input.shape:
        return ops.group_norm(input, num_groups, weight, bias, eps)
    lanes = input.reshape((batch, num_groups, -1))
    mean = ops.mean(lanes, axis=2, keep_dims=True)
    inverse = ops.rsqrt(ops.mean(ops.square(lanes - mean), axis=2, keep_dims=True) + eps)
    output = ((lanes - mean) * inverse).reshape((batch, channels, -1))
    output = (
        output if weight is None else output * weight.astype(input.dtype).reshape((channels, 1))
    )
    output = output if bias is None else output + bias.astype(input.dtype).reshape((channels, 1))
    return output.reshape(input.shape)
