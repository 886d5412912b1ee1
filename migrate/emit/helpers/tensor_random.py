"""Random tensors with the shape and type of another one: torch fills a fresh tensor in place."""

import mindspore
from mindspore import Tensor, ops


def normal_like(input, mean=0, std=1, *, generator=None):
    """What `torch.empty(...).normal_()` gives."""
    return ops.normal(input.shape, mean, std).astype(input.dtype)


def log_normal_like(input, mean=1, std=2, *, generator=None):
    """What `torch.empty(...).log_normal_()` gives."""
    return ops.exp(ops.normal(input.shape, mean, std)).astype(input.dtype)


def uniform_like(input, from_=0, to=1, *, generator=None):
    """What `torch.empty(...).uniform_()` gives."""
    low, high = Tensor(from_, mindspore.float32), Tensor(to, mindspore.float32)
    return ops.uniform(input.shape, low, high).astype(input.dtype)
