"""torch.finfo and torch.iinfo: the limits of a dtype, as numbers that compiled code takes, too."""

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
