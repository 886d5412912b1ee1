"""Optimizers by a short name, the same update in both frameworks:
`sgd:lr=0.1,momentum=0.9,no_decay`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from migrate.errors import RequestError
from migrate.parity.request.losses import Options, parse_options

# Names for common settings of one optimizer.
_SHORT: dict[str, tuple[str, Options]] = {
    "momentum": ("sgd", {"momentum": 0.9}),
    "nesterov": ("sgd", {"momentum": 0.9, "nesterov": True}),
}
_OPTIONS: dict[str, tuple[str, ...]] = {
    "sgd": ("lr", "momentum", "dampening", "weight_decay", "nesterov"),
    "adam": ("lr", "beta1", "beta2", "eps", "weight_decay", "amsgrad"),
    "adamw": ("lr", "beta1", "beta2", "eps", "weight_decay", "amsgrad"),
    "rmsprop": ("lr", "alpha", "eps", "weight_decay", "momentum", "centered"),
    "adagrad": ("lr", "lr_decay", "eps", "weight_decay"),
}
_DEFAULTS: dict[str, Options] = {
    "sgd": {"lr": 0.01},
    "adam": {"lr": 1e-3},
    "adamw": {"lr": 1e-3, "weight_decay": 1e-2},
    "rmsprop": {"lr": 0.01},
    "adagrad": {"lr": 0.01},
}


def parse(text: str) -> tuple[str, Options]:
    """Read an optimizer and refuse what is unknown; `no_decay` spares biases and norms from weight
    decay.
    """
    name, options = parse_options(text, "optimizer")
    short, settings = _SHORT.get(name, (name, {}))
    if short not in _OPTIONS:
        raise RequestError(
            f"unknown optimizer {name!r}",
            next_step=f"use one of {', '.join((*_OPTIONS, *_SHORT))}, "
            "or --torch-optimizer and --ms-optimizer with functions of your own",
        )
    unknown = [key for key in options if key not in (*_OPTIONS[short], "no_decay")]
    if unknown:
        raise RequestError(
            f"{name} has no option {unknown[0]!r}",
            next_step=f"it has: {', '.join(_OPTIONS[short])}",
        )
    return short, {**_DEFAULTS[short], **settings, **options}


def groups(
    names_and_sizes: Iterable[tuple[str, int]], options: Options
) -> list[tuple[list[str], float]]:
    """Split parameter names into those that decay and those (biases, norms: one axis or none) that
    do not.
    """
    decay = float(options.get("weight_decay", 0.0))
    names = list(names_and_sizes)
    if not options.get("no_decay"):
        return [([name for name, _ in names], decay)]
    spared = [name for name, axes in names if axes <= 1 or name.rpartition(".")[2] == "bias"]
    kept = [name for name, _ in names if name not in set(spared)]
    return [(group, value) for group, value in ((kept, decay), (spared, 0.0)) if group]


def torch_optimizer(name: str, options: Options, parameters: dict[str, Any]) -> Any:
    """The optimizer in torch."""
    import torch

    split = groups(((n, p.dim()) for n, p in parameters.items()), options)
    param_groups = [
        {"params": [parameters[n] for n in names], "weight_decay": decay} for names, decay in split
    ]
    classes = {
        "sgd": torch.optim.SGD,
        "adam": torch.optim.Adam,
        "adamw": torch.optim.AdamW,
        "rmsprop": torch.optim.RMSprop,
        "adagrad": torch.optim.Adagrad,
    }
    return classes[name](param_groups, **_keywords(name, options))


def mindspore_optimizer(name: str, options: Options, parameters: dict[str, Any]) -> Any:
    """The optimizer in MindSpore that port writes, given parameters under torch's names."""
    from migrate.emit.helpers.optim_adagrad import Adagrad
    from migrate.emit.helpers.optim_adam import Adam, AdamW
    from migrate.emit.helpers.optim_rmsprop import RMSprop
    from migrate.emit.helpers.optim_sgd import SGD

    split = groups(((n, p.ndim) for n, p in parameters.items()), options)
    param_groups = [
        {"params": [parameters[n] for n in names], "weight_decay": decay} for names, decay in split
    ]
    classes = {"sgd": SGD, "adam": Adam, "adamw": AdamW, "rmsprop": RMSprop, "adagrad": Adagrad}
    return classes[name](param_groups, **_keywords(name, options))


def _keywords(name: str, options: Options) -> Options:
    keywords = {
        key: value
        for key, value in options.items()
        if key not in ("no_decay", "weight_decay", "beta1", "beta2")
    }
    if name in ("adam", "adamw"):
        keywords["betas"] = (float(options.get("beta1", 0.9)), float(options.get("beta2", 0.999)))
    return keywords
