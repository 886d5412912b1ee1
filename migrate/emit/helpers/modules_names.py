"""Members of layers whose class is not known before the program runs."""

from mindspore import Parameter, nn


def _layer(layer):
    """A batch norm over volumes keeps its parameters in an inner one."""
    return layer.bn2d if isinstance(layer, nn.BatchNorm3d) else layer


def _first(layer, names):
    """The first of these names that the layer has; the first of all where it has none."""
    for name in names:
        if hasattr(layer, name):
            return name
    return names[0]


def _replaced(layer, name, value):
    """A Parameter keeps the full name of the one it replaces; any other tensor is its new value."""
    old = getattr(layer, name, None)
    if isinstance(value, Parameter) and isinstance(old, Parameter):
        value.name = old.name
    setattr(layer, name, value)


def setting_of(layer, name):
    """What torch calls so, of a layer or of anything else: Dense has in_channels."""
    words = {"in_features": "in_channels", "out_features": "out_channels"}
    words |= {"num_embeddings": "vocab_size", "embedding_dim": "embedding_size"}
    own = isinstance(layer, nn.Cell) and not hasattr(layer, name)
    return getattr(layer, words[name] if own else name)


def weight_of(layer):
    """A layer's weight, under whichever name it has it."""
    return getattr(_layer(layer), _first(_layer(layer), ("weight", "gamma", "embedding_table")))


def bias_of(layer):
    """A layer's bias, under whichever name it has it."""
    return getattr(_layer(layer), _first(_layer(layer), ("bias", "beta")))


def running_mean_of(layer):
    """A batch norm's running mean."""
    return getattr(_layer(layer), _first(_layer(layer), ("running_mean", "moving_mean")))


def running_var_of(layer):
    """A batch norm's running variance."""
    return getattr(_layer(layer), _first(_layer(layer), ("running_var", "moving_variance")))


def set_weight_of(layer, value):
    """Give a layer another weight."""
    names = ("weight", "gamma", "embedding_table")
    _replaced(_layer(layer), _first(_layer(layer), names), value)


def set_bias_of(layer, value):
    """Give a layer another bias."""
    _replaced(_layer(layer), _first(_layer(layer), ("bias", "beta")), value)


def set_running_mean_of(layer, value):
    """Give a batch norm another running mean."""
    names = ("running_mean", "moving_mean")
    _replaced(_layer(layer), _first(_layer(layer), names), value)


def set_running_var_of(layer, value):
    """Give a batch norm another running variance."""
    names = ("running_var", "moving_variance")
    _replaced(_layer(layer), _first(_layer(layer), names), value)
