"""Plain stacks of convolutions, written as lists of widths."""

import torch
import torch.nn as nn

cfg = {
    "VGG5": [8, "M", 16, "M", 16, "M"],
    "VGG7": [8, 8, "M", 16, 16, "M", 32, "M"],
}


class VGG(nn.Module):
    def __init__(self, vgg_name="VGG5"):
        super(VGG, self).__init__()
        self.features = self._make_layers(cfg[vgg_name])
        self.classifier = nn.Linear([c for c in cfg[vgg_name] if c != "M"][-1], 10)

    def forward(self, x):
        out = self.features(x)
        out = torch.nn.functional.adaptive_max_pool2d(out, 1)
        out = out.view(out.size(0), -1)
        return self.classifier(out)

    def _make_layers(self, cfg):
        layers = []
        in_channels = 3
        for x in cfg:
            if x == "M":
                layers += [nn.MaxPool2d(kernel_size=2, stride=2)]
            else:
                layers += [
                    nn.Conv2d(in_channels, x, kernel_size=3, padding=1),
                    nn.BatchNorm2d(x),
                    nn.ReLU(inplace=True),
                ]
                in_channels = x
        layers += [nn.AvgPool2d(kernel_size=1, stride=1)]
        return nn.Sequential(*layers)
