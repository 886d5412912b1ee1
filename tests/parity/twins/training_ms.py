"""The same loss and optimizer in MindSpore, faithful."""

from mindspore import mint, nn, ops
from mindspore.experimental import optim


def loss(output, target):
    return ops.cross_entropy(output, target, label_smoothing=0.1)


def optimizer(model):
    decayed = [p for p in model.trainable_params() if p.ndim > 1]
    spared = [p for p in model.trainable_params() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": 0.05}, {"params": spared, "weight_decay": 0.0}]
    return optim.SGD(groups, lr=0.1, momentum=0.9, nesterov=True)


def decay_all(model):
    return optim.SGD(model.trainable_params(), lr=0.1, momentum=0.9, weight_decay=0.05)


def adamw(model):
    return optim.AdamW(model.trainable_params(), lr=0.01, weight_decay=0.1)


# What the seeded faults reach for.
KNOWN = (mint, nn)
