"""Tensors joined to one: torch promotes their dtypes, MindSpore's functions want one dtype."""

import mindspore
from mindspore import ops

_WIDTHS = (
    mindspore.bool_,
    mindspore.uint8,
    mindspore.int8,
    mindspore.int16,
    mindspore.int32,
    mindspore.int64,
    mindspore.float16,
    mindspore.bfloat16,
    mindspore.float32,
    mindspore.float64,
    mindspore.complex64,
    mindspore.complex128,
)


@ops.constexpr
def promoted(first, second):
    """torch.promote_types: the dtype of what holds both."""
    low, high = sorted((_WIDTHS.index(first), _WIDTHS.index(second)))
    pair = (_WIDTHS[low], _WIDTHS[high])
    if pair == (mindspore.uint8, mindspore.int8):
        return mindspore.int16
    if pair == (mindspore.float16, mindspore.bfloat16):
        return mindspore.float32
    if pair == (mindspore.float64, mindspore.complex64):
        return mindspore.complex128
    return pair[1]


def _of_one_dtype(tensors):
    kind = tensors[0].dtype
    for tensor in tensors[1:]:
        kind = promoted(kind, tensor.dtype)
    return [tensor if tensor.dtype == kind else tensor.astype(kind) for tensor in tensors]


def cat(tensors, dim=0):
    """torch's cat, of tensors of any dtypes; an empty vector among others is left out."""
    tensors = _of_one_dtype(tensors)
    full = [tensor for tensor in tensors if tensor.shape != (0,)]
    return ops.cat(full, axis=dim) if full else tensors[0]


def stack(tensors, dim=0):
    """torch's stack, of tensors of any dtypes and Parameters."""
    tensors = [each + 0 if isinstance(each, mindspore.Parameter) else each for each in tensors]
    return ops.stack(_of_one_dtype(tensors), axis=dim)


def hstack(tensors):
    """torch's hstack, of tensors of any dtypes."""
    return ops.hstack(_of_one_dtype(tensors))


def vstack(tensors):
    """torch's vstack, of tensors of any dtypes."""
    return ops.vstack(_of_one_dtype(tensors))


def row_stack(tensors):
    """torch's row_stack, of tensors of any dtypes."""
    return ops.vstack(_of_one_dtype(tensors))


def dstack(tensors):
    """torch's dstack, of tensors of any dtypes."""
    return ops.dstack(_of_one_dtype(tensors))


def column_stack(tensors):
    """torch's column_stack, of tensors of any dtypes."""
    return ops.column_stack(_of_one_dtype(tensors))
