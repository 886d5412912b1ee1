"""torch's old tensor types (torch.FloatTensor), where they are kept in a variable."""

import mindspore
import numpy as np
from mindspore import ops


@mindspore.jit_class
class TensorType:
    """Called with sizes it makes a tensor of zeros, with data one of them; `type()` takes it as a
    dtype.
    """

    def __init__(self, dtype):
        self.dtype = dtype

    def __call__(self, *args):
        if not args or all(isinstance(size, (int, np.integer)) for size in args):
            return ops.zeros(args or (0,), dtype=self.dtype)
        data = list(args[0]) if isinstance(args[0], range) else args[0]
        data = data if isinstance(data, mindspore.Tensor) else mindspore.tensor(data)
        return data.astype(self.dtype)


BFloat16Tensor = TensorType(mindspore.bfloat16)
BoolTensor = TensorType(mindspore.bool_)
ByteTensor = TensorType(mindspore.uint8)
CharTensor = TensorType(mindspore.int8)
DoubleTensor = TensorType(mindspore.float64)
FloatTensor = TensorType(mindspore.float32)
HalfTensor = TensorType(mindspore.float16)
IntTensor = TensorType(mindspore.int32)
LongTensor = TensorType(mindspore.int64)
ShortTensor = TensorType(mindspore.int16)


def as_type(x, kind):
    """torch's x.type(kind): a dtype, or an old tensor type."""
    return x.astype(kind.dtype if isinstance(kind, TensorType) else kind)


_TYPE_NAMES = {
    mindspore.bfloat16: "BFloat16",
    mindspore.bool_: "Bool",
    mindspore.uint8: "Byte",
    mindspore.int8: "Char",
    mindspore.float64: "Double",
    mindspore.float32: "Float",
    mindspore.float16: "Half",
    mindspore.int32: "Int",
    mindspore.int64: "Long",
    mindspore.int16: "Short",
}


def type_name(x):
    """torch's x.type(): 'torch.FloatTensor', on an accelerator 'torch.cuda.FloatTensor'."""
    place = "" if mindspore.get_context("device_target") == "CPU" else "cuda."
    return f"torch.{place}{_TYPE_NAMES[x.dtype]}Tensor"


def as_number(scalar, other):
    """A tensor without dimensions beside one with some: only its kind counts in torch."""
    if scalar.ndim or not other.ndim or scalar.dtype == other.dtype:
        return scalar
    return (
        scalar.astype(other.dtype) if _promotion_rank(scalar) <= _promotion_rank(other) else scalar
    )


def _promotion_rank(tensor):
    """Truth values, whole, real and complex numbers, in torch's order."""
    if tensor.dtype == mindspore.bool_:
        return 0
    return 3 if tensor.is_complex() else 1 + tensor.is_floating_point()


def arithmetic(left, sign, right):
    """`left sign right`, where one of the two may be a tensor without dimensions."""
    if not left.ndim:
        left = as_number(left, right)
    elif not right.ndim:
        right = as_number(right, left)
    if sign == "+":
        return left + right
    if sign == "-":
        return left - right
    if sign == "//":
        return left // right
    if sign == "%":
        return left % right
    if sign == "&":
        return left & right
    if sign == "|":
        return left | right
    if sign == "^":
        return left ^ right
    return left * right if sign == "*" else left**right


def leaf_array(parameter):
    """torch's numpy() of what may require a gradient."""
    if getattr(parameter, "requires_grad", False):
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    return parameter.asnumpy()
