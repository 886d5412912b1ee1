"""Settings changed after a layer is made: MindSpore's operators keep what they were made with."""

from mindspore import Parameter, nn, ops


def set_batch_norm(layer, eps=None, momentum=None):
    """Give a batch norm another eps or another momentum, in torch's meaning."""
    norm = layer.bn2d if isinstance(layer, nn.BatchNorm3d) else layer
    if not isinstance(norm, nn.Cell) or not hasattr(norm, "bn_train"):  # one that is composed
        norm.eps = norm.eps if eps is None else eps
        norm.share = norm.share if momentum is None else momentum
        return
    norm.eps = norm.eps if eps is None else float(eps)  # the operator takes no whole number
    norm.momentum = norm.momentum if momentum is None else float(momentum)
    norm.bn_train = ops.BatchNorm(
        is_training=True, epsilon=norm.eps, momentum=norm.momentum, data_format=norm.format
    )
    norm.bn_infer = ops.BatchNorm(is_training=False, epsilon=norm.eps, data_format=norm.format)


def set_conv2d(layer, stride=None, padding=None, dilation=None):
    """Give a convolution another stride, padding or dilation."""

    def pair(value):
        return (value, value) if isinstance(value, int) else tuple(value)

    if stride is not None:
        layer.stride = pair(stride)
    if dilation is not None:
        layer.dilation = pair(dilation)
    if padding is not None:
        height, width = pair(padding)
        layer.padding = (height, height, width, width)
        layer.pad_mode = "pad"
    layer.conv2d = ops.Conv2D(
        out_channel=layer.out_channels,
        kernel_size=layer.kernel_size,
        mode=1,
        pad_mode=layer.pad_mode,
        pad=layer.padding,
        stride=layer.stride,
        dilation=layer.dilation,
        group=layer.group,
        data_format=layer.data_format,
    )


def conv_padding(padding, pad_mode, ndim=2):
    """A convolution's padding as torch states it: one number for each axis, or a word.

    It takes the layer's settings and not the layer: Graph mode reads no constant from a Cell that
    is handed on.
    """
    if pad_mode != "pad":
        return pad_mode
    if isinstance(padding, int):
        return (padding,) * ndim
    sides = ()
    for axis in range(ndim):
        sides += (padding[len(padding) - 2 * (ndim - axis)],)
    return sides


def set_dropout(layer, p):
    """Give a dropout another probability."""
    if not 0 <= p < 1:
        raise NotImplementedError(f"MindSpore's dropout keeps something: p={p}")
    layer.p = p
    layer.keep_prob = 1.0 - p
    layer.dropout = ops.Dropout(1.0 - p)


def change_setting(layer, name, value):
    """Give a layer of any class another setting, so that it counts."""
    if isinstance(layer, nn.Conv2d) and name in ("stride", "padding", "dilation"):
        set_conv2d(layer, **{name: value})
    elif isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        set_batch_norm(layer, **{name: value})
    elif isinstance(layer, nn.Dropout) and name == "p":
        set_dropout(layer, value)
    elif type(layer).__module__.startswith("mindspore.nn"):
        raise NotImplementedError(f"{type(layer).__name__} reads {name} only when it is made")
    else:
        setattr(layer, name, value)


def requires_grad_(tensor, requires_grad=True):
    """Parameters carry the flag; other tensors are differentiated where grad is told so."""
    if isinstance(tensor, Parameter):
        tensor.requires_grad = requires_grad
    return tensor
