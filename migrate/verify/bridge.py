"""Carry tensors between the frameworks; both live in the same throw-away process."""

from __future__ import annotations

from typing import Any


def to_mindspore(value: Any) -> Any:
    """A torch tensor as a MindSpore tensor of the same shape and dtype."""
    import mindspore
    import numpy

    plain = value.detach().resolve_conj().resolve_neg()
    if str(plain.dtype) == "torch.bfloat16":  # numpy has no such dtype
        return to_mindspore(plain.float()).astype(mindspore.bfloat16)
    array = numpy.array(plain.numpy(), copy=True, order="C")
    return mindspore.Tensor(array)


def to_torch(value: Any) -> Any:
    """A MindSpore result with every tensor brought to torch; containers keep their form."""
    import mindspore
    import numpy
    import torch

    if isinstance(value, mindspore.Tensor):
        if value.dtype == mindspore.bfloat16:
            wide = value.astype(mindspore.float32).asnumpy()
            return torch.from_numpy(numpy.array(wide)).to(torch.bfloat16)
        return torch.from_numpy(numpy.array(value.asnumpy(), copy=True))
    if isinstance(value, dict):
        return {key: to_torch(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(to_torch(item) for item in value)
    return value
