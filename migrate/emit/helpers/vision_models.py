"""What torchvision's model files need around their networks: weights, the registry, small tools."""

import fnmatch
import functools
import inspect
import typing
from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum

from mindspore import nn

# Builder functions by name, filled by register_model.
BUILTIN_MODELS: dict = {}


class ClassCount:
    """Stands for a list of class names of which only the length was carried over."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        raise NotImplementedError(
            "the class names of torchvision's weights were not ported; read them from your dataset"
        )


@dataclass
class Weights:
    """Where pretrained weights lie, how to prepare their inputs, and facts about them."""

    url: str
    transforms: typing.Callable
    meta: dict


class WeightsEnum(Enum):
    """The pretrained weights of one builder; a torch file has to be converted before it loads."""

    @classmethod
    def verify(cls, obj):
        if obj is None or isinstance(obj, cls):
            return obj
        if isinstance(obj, str):
            return cls[obj.removeprefix(cls.__name__ + ".")]
        raise TypeError(
            f"weights is {type(obj).__name__}, expected {cls.__name__}, its name or None"
        )

    def get_state_dict(self, *args, **kwargs):
        raise NotImplementedError(
            f"{self!r} is a torch checkpoint. Download {self.url}, convert it with "
            "`ms-migrate weights FILE.pth FILE.ckpt`, build the model with weights=None, then "
            "call mindspore.load_checkpoint('FILE.ckpt', model)"
        )

    def __repr__(self):
        return f"{type(self).__name__}.{self.name}"

    @property
    def url(self):
        return self.value.url

    @property
    def transforms(self):
        return self.value.transforms

    @property
    def meta(self):
        return self.value.meta


def register_model(name=None):
    """List the decorated builder under its own or the given name."""

    def register(builder):
        key = name or builder.__name__
        if key in BUILTIN_MODELS:
            raise ValueError(f"a model called {key!r} is already registered")
        BUILTIN_MODELS[key] = builder
        return builder

    return register


def list_models(module=None, include=None, exclude=None):
    """The registered names, filtered by module and by shell patterns."""
    names = {
        name
        for name, builder in BUILTIN_MODELS.items()
        if module is None or builder.__module__.rpartition(".")[0] == module.__name__
    }
    wanted = [include] if isinstance(include, str) else list(include or ["*"])
    unwanted = [exclude] if isinstance(exclude, str) else list(exclude or [])
    return sorted(
        name
        for name in names
        if any(fnmatch.fnmatch(name, pattern) for pattern in wanted)
        and not any(fnmatch.fnmatch(name, pattern) for pattern in unwanted)
    )


def get_model_builder(name):
    """The builder registered under a name."""
    if name.lower() not in BUILTIN_MODELS:
        raise ValueError(f"no model is registered as {name!r}")
    return BUILTIN_MODELS[name.lower()]


def get_model(name, **config):
    """Build a registered model."""
    return get_model_builder(name)(**config)


def get_model_weights(name):
    """The WeightsEnum in the annotation of a builder's weights parameter."""
    builder = get_model_builder(name) if isinstance(name, str) else name
    hint = inspect.signature(builder).parameters["weights"].annotation
    for candidate in (hint, *typing.get_args(hint)):
        if isinstance(candidate, type) and issubclass(candidate, WeightsEnum):
            return candidate
    raise ValueError(f"the weights parameter of {builder.__name__} names no WeightsEnum")


def get_weight(name):
    """The member that a text such as "ResNet50_Weights.IMAGENET1K_V1" names."""
    family, _, member = name.partition(".")
    for weights in WeightsEnum.__subclasses__():
        if weights.__name__ == family:
            return weights[member]
    raise ValueError(f"no weights are called {name!r}")


def handle_legacy_interface(**weights):
    """Accept the old `pretrained=True` too; weights maps each new name to (old name, default)."""

    def decorate(builder):
        parameters = inspect.signature(builder).parameters.values()
        names = [p.name for p in parameters if p.kind != p.VAR_KEYWORD]

        @functools.wraps(builder)
        def build(*args, **kwargs):
            kwargs.update(zip(names, args, strict=False))
            for new, (old, default) in weights.items():
                if old in kwargs:
                    kwargs[new] = bool(kwargs.pop(old))
                if isinstance(kwargs.get(new), bool):
                    pretrained = default(kwargs) if callable(default) else default
                    kwargs[new] = pretrained if kwargs[new] else None
            return builder(**kwargs)

        return build

    return decorate


def overwrite_named_param(kwargs, param, new_value):
    """Set an argument that the weights prescribe; a different value from the caller is an error."""
    if kwargs.setdefault(param, new_value) != new_value:
        raise ValueError(f"{param} is {kwargs[param]}, but the weights need {new_value}")


def overwrite_value_param(param, actual, expected):
    """The value that the weights prescribe; a different one from the caller is an error."""
    if actual is not None and actual != expected:
        raise ValueError(f"{param} is {actual}, but the weights need {expected}")
    return expected


def make_divisible(v, divisor, min_value=None):
    """The multiple of divisor nearest to v, but never less than nine tenths of v."""
    rounded = max(min_value or divisor, int(v + divisor / 2) // divisor * divisor)
    return rounded if rounded >= 0.9 * v else rounded + divisor


class IntermediateLayerGetter(nn.SequentialCell):
    """Run a model's children in order and return some of their outputs by name."""

    def __init__(self, model, return_layers):
        children = model.name_cells()
        if not set(return_layers) <= set(children):
            raise ValueError(
                f"the model has no children {sorted(set(return_layers) - set(children))}"
            )
        last = max(list(children).index(name) for name in return_layers)
        super().__init__(OrderedDict(list(children.items())[: last + 1]))
        self.return_layers = dict(return_layers)
        self.output_names = tuple(return_layers.get(name) for name in list(children)[: last + 1])

    def construct(self, x):
        outputs = {}
        for index, name in enumerate(self.output_names):
            x = self.cell_list[index](x)
            if name is not None:
                outputs[name] = x
        return outputs
