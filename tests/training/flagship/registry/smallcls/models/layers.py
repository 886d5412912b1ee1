"""Norms and activations that a configuration names."""

import torch.nn as nn

_NORMS = {"BN": ("bn", nn.BatchNorm2d), "GN": ("gn", nn.GroupNorm)}
_ACTIVATIONS = {"ReLU": nn.ReLU, "LeakyReLU": nn.LeakyReLU, "SiLU": nn.SiLU}


def build_norm_layer(cfg, num_features, postfix=""):
    options = dict(cfg)
    kind = options.pop("type")
    abbr, layer_type = _NORMS[kind]
    options.setdefault("eps", 1e-5)
    if kind == "GN":
        layer = layer_type(num_channels=num_features, **options)
    else:
        layer = layer_type(num_features, **options)
    return f"{abbr}{postfix}", layer


def build_activation(cfg):
    options = dict(cfg)
    return _ACTIVATIONS[options.pop("type")](**options)
