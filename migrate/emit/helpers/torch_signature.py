"""Simple layers with torch's constructor, for classes that are passed on and called later."""

import mindspore
from mindspore import nn

from migrate.emit.helpers.modules_reset import own_reset


class ReLU(nn.ReLU):
    """nn.ReLU with torch's arguments."""

    def __init__(self, inplace=False):
        super().__init__()


class Linear(nn.Dense):
    """nn.Dense with torch's arguments."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__(in_features, out_features, has_bias=bias, dtype=dtype or mindspore.float32)
        own_reset(self)


class Dropout(nn.Dropout):
    """nn.Dropout with torch's arguments: p is the share that is dropped."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__(p=0.0 if p == 1 else float(p))
        self.drops_all = p == 1  # MindSpore's layer does not

    def construct(self, x):
        if self.drops_all and self.training:
            return x * 0
        return super().construct(x)
