"""A residual network of a few blocks, built from configurations of norms and activations."""

import torch.nn as nn

from .builder import BACKBONES
from .layers import build_activation, build_norm_layer


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride, norm_cfg, act_cfg):
        super().__init__()
        self.norm1_name, norm1 = build_norm_layer(norm_cfg, outputs, postfix=1)
        self.norm2_name, norm2 = build_norm_layer(norm_cfg, outputs, postfix=2)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.add_module(self.norm1_name, norm1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.add_module(self.norm2_name, norm2)
        self.activate = build_activation(act_cfg)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Conv2d(inputs, outputs, 1, stride=stride)

    @property
    def norm1(self):
        return getattr(self, self.norm1_name)

    @property
    def norm2(self):
        return getattr(self, self.norm2_name)

    def forward(self, x):
        identity = x
        out = self.activate(self.norm1(self.conv1(x)))
        out = self.norm2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        return self.activate(out + identity)


@BACKBONES.register_module()
class TinyResNet(nn.Module):
    def __init__(self, widths=(8, 16), norm_cfg=dict(type="BN"), act_cfg=dict(type="ReLU")):
        super().__init__()
        self.stem = nn.Conv2d(3, widths[0], 3, stride=2, padding=1)
        self.res_layers = []
        inputs = widths[0]
        for i, width in enumerate(widths):
            name = f"layer{i + 1}"
            self.add_module(name, Block(inputs, width, 1 if i == 0 else 2, norm_cfg, act_cfg))
            self.res_layers.append(name)
            inputs = width
        self.init_weights()

    def init_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight)
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(m.weight, 1)

    def forward(self, x):
        x = self.stem(x)
        outs = []
        for name in self.res_layers:
            layer = getattr(self, name)
            x = layer(x)
            outs.append(x)
        return tuple(outs)
