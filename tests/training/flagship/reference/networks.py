"""Networks by name: a narrow residual network here, all others are torchvision's."""

from functools import partial
from typing import Any, Callable, Optional

from torch import Tensor, nn
from torch.nn import functional as F

BUILDERS: dict[str, Callable[..., nn.Module]] = {}


def register(builder: Callable[..., nn.Module]) -> Callable[..., nn.Module]:
    BUILDERS[builder.__name__] = builder
    return builder


def get_network(name: str, weights: Optional[str] = None, **options: Any) -> nn.Module:
    if weights is not None:
        raise ValueError(f"there are no weights {weights} for {name}")
    return BUILDERS[name.lower()](**options)


class Residual(nn.Module):
    def __init__(
        self,
        inputs: int,
        outputs: int,
        stride: int = 1,
        activation: Callable[..., nn.Module] = nn.ReLU,
        norm_layer: Callable[..., nn.Module] = nn.BatchNorm2d,
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = norm_layer(outputs)
        self.relu = activation(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = norm_layer(outputs)
        self.downsample: Optional[nn.Module] = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), norm_layer(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class NarrowNet(nn.Module):
    def __init__(
        self,
        widths: tuple[int, ...],
        num_classes: int,
        norm_layer: Optional[Callable[..., nn.Module]] = None,
    ) -> None:
        super().__init__()
        norm_layer = norm_layer if norm_layer is not None else nn.BatchNorm2d
        layers: list[nn.Module] = [nn.Conv2d(3, widths[0], 3, 2, 1, bias=False)]
        layers += [norm_layer(widths[0]), nn.ReLU(inplace=True)]
        for inputs, outputs in zip(widths, widths[1:]):
            layers.append(Residual(inputs, outputs, stride=2, norm_layer=norm_layer))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(widths[-1], num_classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.ones_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, x: Tensor) -> Tensor:
        x = F.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(x.flatten(1))


@register
def narrow(**options: Any) -> NarrowNet:
    norm = partial(nn.BatchNorm2d, eps=1e-4, momentum=0.2)
    return NarrowNet((8, 12, 16), norm_layer=norm, **options)


@register
def grouped(**options: Any) -> NarrowNet:
    return NarrowNet((8, 16), norm_layer=lambda width: nn.GroupNorm(4, width), **options)
