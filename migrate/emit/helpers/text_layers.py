"""Layers as text, in torch's words: `print(model)`."""

from mindspore import nn

_LAYER_NAMES = {
    "Dense": "Linear",
    "SequentialCell": "Sequential",
    "CellList": "ModuleList",
    "CellDict": "ModuleDict",
    "Conv1dTranspose": "ConvTranspose1d",
    "Conv2dTranspose": "ConvTranspose2d",
    "Conv3dTranspose": "ConvTranspose3d",
    "FlatConv1d": "Conv1d",
    "FlatConvTranspose1d": "ConvTranspose1d",
    "GlobalAvgPool1d": "AdaptiveAvgPool1d",
    "GlobalAvgPool2d": "AdaptiveAvgPool2d",
    "GlobalAvgPool3d": "AdaptiveAvgPool3d",
    "SeLU": "SELU",
    "HSwish": "Hardswish",
    "HSigmoid": "Hardsigmoid",
    "ProjectedLSTM": "LSTM",
}
_LAYER_HOMES = ("mindspore.", "ms_migrate_helpers", "ms_migrate_runtime", "migrate.emit")


def _shown_plain(value):
    """A tuple of one number is that number."""
    if isinstance(value, (tuple, list)) and value and len(set(value)) == 1:
        return value[0]
    return value


def _shown_linear(cell):
    sizes = f"in_features={cell.in_channels}, out_features={cell.out_channels}"
    return f"{sizes}, bias={cell.has_bias}"


def _shown_conv_padding(cell, rank):
    """torch's padding of both sides: MindSpore lists each side."""
    if cell.pad_mode != "pad":
        return (0,) * rank if cell.pad_mode == "valid" else cell.pad_mode
    padding = cell.padding
    if isinstance(padding, int):
        return (padding,) * rank
    padding = tuple(padding)
    return padding[-2 * rank :: 2] if len(padding) >= 2 * rank else padding


def _shown_conv(cell):
    rank = cell.weight.ndim - 2 if hasattr(cell, "weight") else 2
    name = _torch_class(cell).__name__
    rank = next((int(n) for n in "123" if f"{n}d" in name), rank)

    def last(value):
        return tuple(value[-rank:]) if isinstance(value, (tuple, list)) else (value,) * rank

    parts = [f"{cell.in_channels}, {cell.out_channels}", f"kernel_size={last(cell.kernel_size)}"]
    parts.append(f"stride={last(cell.stride)}")
    padding = _shown_conv_padding(cell, rank)
    mode = getattr(cell, "padding_mode", "zeros")
    if isinstance(padding, str) or any(padding):
        parts.append(f"padding={padding}")
    if any(step != 1 for step in last(cell.dilation)):
        parts.append(f"dilation={last(cell.dilation)}")
    extra = getattr(cell, "output_padding", 0)
    if any(last(extra)):
        parts.append(f"output_padding={last(extra)}")
    if cell.group != 1:
        parts.append(f"groups={cell.group}")
    parts += [] if cell.has_bias else ["bias=False"]
    parts += [] if mode == "zeros" else [f"padding_mode={mode}"]
    return ", ".join(parts)


def _shown_norm(cell):
    affine = bool(getattr(cell, "affine", True)) and cell.gamma is not None
    affine = affine and bool(cell.gamma.requires_grad)
    momentum = cell.momentum  # MindSpore's own attribute is torch's, too
    momentum = momentum if momentum is None else round(float(momentum), 12)
    tracked = getattr(cell, "use_batch_statistics", None) is not True
    text = f"{cell.num_features}, eps={cell.eps}, momentum={momentum}, affine={affine}"
    return f"{text}, bias={affine}, track_running_stats={tracked}"


def _shown_layer_norm(cell):
    affine = getattr(cell, "elementwise_affine", True)
    shape = tuple(cell.normalized_shape)
    eps = getattr(cell, "epsilon", getattr(cell, "eps", 1e-5))
    return f"{shape}, eps={eps}, elementwise_affine={affine}, bias={affine}"


def _shown_group_norm(cell):
    affine = getattr(cell, "affine", True)
    text = f"{cell.num_groups}, {cell.num_channels}, eps={cell.eps}"
    return f"{text}, affine={affine}, bias={affine}"


def _shown_pool(cell):
    size, stride = _shown_plain(cell.kernel_size), _shown_plain(cell.stride)
    padding = _shown_plain(getattr(cell, "padding", 0))
    text = f"kernel_size={size}, stride={stride}, padding={padding}"
    if "Avg" in _torch_class(cell).__name__:
        return text
    dilation = _shown_plain(getattr(cell, "dilation", 1))
    return f"{text}, dilation={dilation}, ceil_mode={getattr(cell, 'ceil_mode', False)}"


def _shown_embedding(cell):
    rows = getattr(cell, "num_embeddings", None) or cell.vocab_size
    width = getattr(cell, "embedding_dim", None) or cell.embedding_size
    padding = getattr(cell, "padding_idx", None)
    return f"{rows}, {width}" + ("" if padding is None else f", padding_idx={padding}")


def _shown_recurrent(cell):
    first = (getattr(cell, "w_ih_list", None) or cell.weight_ih)[0]
    parts = [f"{first.shape[1]}, {cell.hidden_size}"]
    parts += [] if cell.num_layers == 1 else [f"num_layers={cell.num_layers}"]
    parts += [] if getattr(cell, "has_bias", True) else ["bias=False"]
    parts += ["batch_first=True"] if cell.batch_first else []
    dropped = getattr(getattr(cell, "dropout_op", None), "p", 0)
    parts += [f"dropout={dropped}"] if dropped else []
    parts += ["bidirectional=True"] if cell.bidirectional else []
    return ", ".join(parts)


def _shown_attribute(name, *places, default=None):
    """`name=value`, of the first attribute of the cell that is there."""

    def text(cell):
        value = next((getattr(cell, p) for p in places if hasattr(cell, p)), default)
        value = value.asnumpy().item() if hasattr(value, "asnumpy") else value
        return f"{name}={value!r}"

    return text


def _shown_dropout(cell):
    return f"p={getattr(cell, 'p', 0.5)}" + ("" if hasattr(cell, "inplace") else ", inplace=False")


def _shown_gelu(cell):
    tanh = getattr(cell, "approximate", "none") in (True, "tanh")
    return f"approximate={'tanh' if tanh else 'none'!r}"


_LAYER_DETAILS = {
    "Linear": _shown_linear,
    "Embedding": _shown_embedding,
    "LayerNorm": _shown_layer_norm,
    "GroupNorm": _shown_group_norm,
    "LeakyReLU": _shown_attribute("negative_slope", "alpha", default=0.01),
    "ELU": _shown_attribute("alpha", "alpha", default=1.0),
    "Softmax": _shown_attribute("dim", "dim", "axis"),
    "LogSoftmax": _shown_attribute("dim", "dim", "axis"),
    "Flatten": lambda cell: "start_dim=1, end_dim=-1",
    "GELU": _shown_gelu,
    "AdaptiveAvgPool1d": _shown_attribute("output_size", "torch_size", "output_size", default=1),
    "AdaptiveAvgPool2d": _shown_attribute("output_size", "torch_size", "output_size", default=1),
    "AdaptiveMaxPool2d": _shown_attribute("output_size", "output_size", default=1),
    "PixelShuffle": _shown_attribute("upscale_factor", "upscale_factor"),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _shown_recurrent),
    **dict.fromkeys((f"Conv{n}d" for n in "123"), _shown_conv),
    **dict.fromkeys((f"ConvTranspose{n}d" for n in "123"), _shown_conv),
    **dict.fromkeys((f"BatchNorm{n}d" for n in "123"), _shown_norm),
    **dict.fromkeys((f"{kind}Pool{n}d" for n in "123" for kind in ("Max", "Avg")), _shown_pool),
    **dict.fromkeys(("Dropout", "Dropout1d", "Dropout2d", "Dropout3d"), _shown_dropout),
}


def _torch_class(cell):
    """The first class of a layer's that is not the program's own."""
    made = _shown_class(cell)
    return next((c for c in made.__mro__ if c.__module__.startswith(_LAYER_HOMES)), made)


def _shown_class(cell):
    """A layer whose weight is normalised has a class of its own."""
    return getattr(type(cell), "shown_as", type(cell))


def _shown_details(cell):
    """What stands in the brackets behind a layer's name."""
    own = getattr(type(cell), "extra_repr", None)
    if own is not None:
        return cell.extra_repr()
    found = _torch_class(cell).__name__
    details = _LAYER_DETAILS.get(_LAYER_NAMES.get(found, found))
    try:
        text = details(cell) if details is not None else ""
    except AttributeError:
        text = cell.extend_repr()
    marked = "inplace=True" if getattr(cell, "inplace", False) is True else ""
    return ", ".join(part for part in (text, marked) if part)


def _shown_indented(text):
    return text.replace("\n", "\n  ")


def _shown_children(cell, name):
    """Each child on its line; a list counts those that are alike."""
    found = [(key, _shown_indented(repr(child))) for key, child in cell._cells.items()]
    if name != "ModuleList":
        return [f"({key}): {text}" for key, text in found]
    lines, place = [], 0
    while place < len(found):
        end = place
        while end + 1 < len(found) and found[end + 1][1] == found[place][1]:
            end += 1
        text = found[place][1]
        lines.append(
            f"({place}-{end}): {end - place + 1} x {text}" if end > place else f"({place}): {text}"
        )
        place = end + 1
    return lines


def _layer_text(self):
    made = _shown_class(self)
    own_name = hasattr(made, "_get_name") and made is type(self)
    name = self._get_name() if own_name else made.__name__
    if made.__module__.startswith(_LAYER_HOMES):
        name = _LAYER_NAMES.get(name, name)
    extra = _shown_details(self)
    lines = extra.split("\n") if extra else []
    whole = made.__module__.startswith(_LAYER_HOMES) and name in _LAYER_DETAILS
    children = [] if whole else _shown_children(self, name)
    if not children and len(lines) <= 1:
        return f"{name}({extra})"
    return f"{name}(\n  " + "\n  ".join([*lines, *children]) + "\n)"


def _layer_str(self):
    return repr(self)


def in_place(layer):
    """A layer that torch's program wanted to work in place: its text says so."""
    layer.inplace = True
    return layer


def _show_layers_as_torch():
    nn.Cell.__repr__, nn.Cell.__str__ = _layer_text, _layer_str
    return True


shown_layers = _show_layers_as_torch()
