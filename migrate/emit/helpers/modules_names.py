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


_MEMBERS = {
    "weight": ("weight", "gamma", "embedding_table"),
    "bias": ("bias", "beta"),
    "running_mean": ("running_mean", "moving_mean"),
    "running_var": ("running_var", "moving_variance"),
}


def unless_absent(parameter):
    """None for a parameter that torch's layer would not have: affine=False, bias=False."""
    return None if getattr(parameter, "absent", False) else parameter


def member_of(layer, name, *default):
    """getattr(layer, name) under torch's names, of a layer or of anything else."""
    if isinstance(layer, nn.Cell) and name in _MEMBERS:
        layer = _layer(layer)
        name = _first(layer, _MEMBERS[name])
    return unless_absent(getattr(layer, name, *default))


def has_member(layer, name):
    """hasattr(layer, name) under torch's names, of a layer or of anything else."""
    if isinstance(layer, nn.Cell) and name in _MEMBERS:
        layer = _layer(layer)
        name = _first(layer, _MEMBERS[name])
    return hasattr(layer, name)


def weight_of(layer):
    """A layer's weight, under whichever name it has it."""
    return member_of(layer, "weight")


def bias_of(layer):
    """A layer's bias, under whichever name it has it."""
    return member_of(layer, "bias")


def running_mean_of(layer):
    """A batch norm's running mean."""
    return member_of(layer, "running_mean")


def running_var_of(layer):
    """A batch norm's running variance."""
    return member_of(layer, "running_var")


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
