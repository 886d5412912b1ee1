"""The limits of a dtype, as numbers that compiled code takes, too; the dtype of two together."""

import mindspore
import numpy as np


@mindspore.jit_class
class finfo:
    """torch.finfo."""

    def __init__(self, type=mindspore.float32):
        if type == mindspore.bfloat16:
            # float32's exponents, with seven bits of mantissa.
            self.bits, self.eps, self.resolution = 16, 2.0**-7, 0.01
            self.max, self.tiny = (2 - 2.0**-7) * 2.0**127, 2.0**-126
        else:
            limits = np.finfo(str(type).lower())
            self.bits, self.eps = limits.bits, float(limits.eps)
            self.max, self.tiny = float(limits.max), float(limits.tiny)
            self.resolution = float(limits.resolution)
        self.min, self.smallest_normal = -self.max, self.tiny


@mindspore.jit_class
class iinfo:
    """torch.iinfo."""

    def __init__(self, type):
        limits = np.iinfo(str(type).lower())
        self.bits, self.max, self.min = limits.bits, int(limits.max), int(limits.min)


def promote_types(type1, type2):
    """torch.promote_types: the dtype of a result that holds both."""
    if type1 == type2:
        return type1
    for one, other in ((type1, type2), (type2, type1)):
        if one == mindspore.uint8 and other == mindspore.int8:
            return mindspore.int16
        if one == mindspore.float16 and other == mindspore.bfloat16:
            return mindspore.float32
        if one == mindspore.float64 and other == mindspore.complex64:
            return mindspore.complex128
    for wider in (
        mindspore.complex128,
        mindspore.complex64,
        mindspore.float64,
        mindspore.float32,
        mindspore.bfloat16,
        mindspore.float16,
        mindspore.int64,
        mindspore.int32,
        mindspore.int16,
        mindspore.int8,
        mindspore.uint8,
    ):
        if type1 == wider or type2 == wider:
            return wider
    return mindspore.bool_
