"""Tensors made from sizes and numbers, with torch's rules for dtypes and random draws."""

import mindspore
import numpy as np
from mindspore import Tensor, ops


def full(size, fill_value, dtype=None):
    """torch's full: the dtype follows the value. MindSpore's default is int64."""
    if dtype is None:
        if isinstance(fill_value, bool):
            dtype = mindspore.bool_
        elif isinstance(fill_value, int):
            dtype = mindspore.int64
        elif isinstance(fill_value, Tensor):
            dtype = fill_value.dtype
        else:
            dtype = mindspore.float32
    return ops.full(size, fill_value, dtype=dtype)


def shared_tensor(data, dtype=None):
    """torch.as_tensor: a tensor as it is, the memory of an array, a copy of anything else."""
    if isinstance(data, Tensor):
        made = data
    elif isinstance(data, np.ndarray):
        made = Tensor.from_numpy(np.ascontiguousarray(data))
        if dtype is not None and made.dtype != dtype:
            # Of a copy: the cast is made later, and the array may have changed by then.
            made = mindspore.tensor(data)
    else:
        return mindspore.tensor(data, dtype=dtype)
    return made if dtype is None or made.dtype == dtype else made.astype(dtype)


def linspace(start, end, steps, dtype=None):
    """torch's linspace; MindSpore's has at least one point."""
    if steps == 0:
        return ops.zeros((0,), mindspore.float32 if dtype is None else dtype)
    if isinstance(start, mindspore.Tensor) or isinstance(end, mindspore.Tensor):
        start, end = (ops.cast(part, mindspore.float32) for part in (start, end))
    line = ops.linspace(start, end, steps)
    return line if dtype is None else line.astype(dtype)


def logspace(start, end, steps, base=10.0, dtype=None):
    """torch's logspace; whole numbers are cut off, as torch does it."""
    values = ops.pow(base, linspace(start, end, steps))
    return values if dtype is None else values.astype(dtype)


def randperm(n, generator=None, dtype=mindspore.int64):
    """torch's randperm; ops.randperm gives the same order on every call."""
    if generator is not None:
        return Tensor(generator.draws.permutation(n), dtype)
    return ops.argsort(ops.rand((n,))).astype(dtype)


def normal(mean, std=1.0, size=None, dtype=None):
    """torch's normal: tensors or numbers for mean and std."""
    shape = (mean + std).shape if size is None else tuple(size)
    drawn = ops.standard_normal(shape) * std + mean
    if dtype is None and size is None:
        dtype = mean.dtype if isinstance(mean, Tensor) else std.dtype
    return drawn if dtype is None else drawn.astype(dtype)


def sample_dirichlet(concentration, generator=None):
    """torch._sample_dirichlet: shares that add up to one, drawn on the host."""
    weights = concentration.asnumpy()
    draws = np.random if generator is None else generator.draws
    drawn = draws.standard_gamma(weights)
    return Tensor(drawn / drawn.sum(-1, keepdims=True), concentration.dtype)


def ensure(condition, message):
    """torch._assert: an assertion that is an expression."""
    if not condition:
        raise AssertionError(message)


_DTYPES_BY_WIDTH = {
    "bool": mindspore.bool_,
    "uint8": mindspore.uint8,
    "int8": mindspore.int8,
    "int16": mindspore.int16,
    "int32": mindspore.int32,
    "int64": mindspore.int64,
    "float16": mindspore.float16,
    "float32": mindspore.float32,
    "float64": mindspore.float64,
}


def _leaf_dtypes(data):
    """The dtypes of the numbers in nested lists, as torch counts them."""
    if isinstance(data, (list, tuple)):
        return {name for item in data for name in _leaf_dtypes(item)}
    if isinstance(data, (np.ndarray, np.generic)):
        return {data.dtype.name}
    return {{bool: "bool", float: "float32"}.get(type(data), "int64")}


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """torch.tensor of lists in which numpy's numbers keep their dtype."""
    if dtype is None and isinstance(data, (list, tuple)) and data:
        found = _leaf_dtypes(data)
        if found <= set(_DTYPES_BY_WIDTH):
            dtype = [kind for name, kind in _DTYPES_BY_WIDTH.items() if name in found][-1]
            data = np.array(data)
    made = mindspore.tensor(data, dtype=dtype)
    return mindspore.Parameter(made) if requires_grad else made
