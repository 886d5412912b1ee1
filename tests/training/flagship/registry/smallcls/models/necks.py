"""From feature maps to vectors."""

import torch.nn as nn

from .builder import NECKS


@NECKS.register_module()
class GlobalAveragePooling(nn.Module):
    def __init__(self):
        super().__init__()
        self.gap = nn.AdaptiveAvgPool2d((1, 1))

    def forward(self, inputs):
        if isinstance(inputs, tuple):
            return tuple(self.gap(x).view(x.size(0), -1) for x in inputs)
        return self.gap(inputs).view(inputs.size(0), -1)
