"""Layers chosen by classes that come from elsewhere."""

from torch import nn

KERNELS = (nn.Conv2d, nn.Linear)
COST = {nn.Conv2d: 30, nn.Linear: 20, nn.Softplus: 10}


def count(model, kind=nn.BatchNorm2d):
    return sum(isinstance(m, kind) for m in model.modules())


def cost(model):
    return sum(COST.get(type(m), 0) for m in model.modules())


def find(module, kinds=(nn.Conv2d, nn.Upsample), name=""):
    if type(module) in kinds:
        return [name]
    return [n for key, child in module.named_children() for n in find(child, kinds, f"{name}{key}")]


def resized(model):
    return sum(1 for m in model.modules() if isinstance(m, nn.Upsample))
