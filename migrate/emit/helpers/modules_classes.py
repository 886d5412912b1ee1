"""Questions about a layer's class, asked with torch's classes and names.

A class that the program passes on is the one with torch's arguments; a layer built in place is
MindSpore's own. Both stand for the same class of torch.
"""

from mindspore import nn

from migrate.emit.helpers.helper_origin import of_helpers

_TORCH_NAMES = {
    "BiDense": "Bilinear",
    "CellDict": "ModuleDict",
    "CellList": "ModuleList",
    "Conv1dTranspose": "ConvTranspose1d",
    "Conv2dTranspose": "ConvTranspose2d",
    "Conv3dTranspose": "ConvTranspose3d",
    "Dense": "Linear",
    "FlatConv1d": "Conv1d",
    "FlatConvTranspose1d": "ConvTranspose1d",
    "GlobalAvgPool1d": "AdaptiveAvgPool1d",
    "GlobalAvgPool2d": "AdaptiveAvgPool2d",
    "GlobalAvgPool3d": "AdaptiveAvgPool3d",
    "HSigmoid": "Hardsigmoid",
    "HSwish": "Hardswish",
    "SequentialCell": "Sequential",
}


def torch_class_name(cls):
    """The name of a layer's class in torch, for programs that choose layers by name."""
    return _TORCH_NAMES.get(cls.__name__, cls.__name__)


def _own_class(cls):
    """The MindSpore class that a class with torch's arguments stands for; else the class itself."""
    if not of_helpers(cls):
        return cls
    for base in cls.__mro__[1:]:
        if base is not nn.Cell and torch_class_name(base) == cls.__name__:
            return base
    return cls


def _own_classes(kinds):
    if isinstance(kinds, (tuple, list)):
        return tuple(_own_classes(kind) for kind in kinds)
    return _own_class(kinds) if isinstance(kinds, type) else kinds


def is_instance(value, kinds):
    """isinstance, where the classes come from a variable."""
    return isinstance(value, _own_classes(kinds))


def is_subclass(cls, kinds):
    """issubclass, where the classes come from a variable."""
    return issubclass(cls, _own_classes(kinds))


def torch_class(value):
    """type(value), or the class with torch's arguments that stands for it here."""
    kind = type(value)
    passed_on = (cls for cls in globals().values() if isinstance(cls, type) and cls is not kind)
    return next((cls for cls in passed_on if _own_class(cls) is kind), kind)
