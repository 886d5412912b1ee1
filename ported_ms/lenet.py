"""LeNet-5 for CIFAR-10 (LeCun et al., 1998), with ReLU and max pooling as it is trained today."""

from __future__ import annotations

from mindspore import Tensor, nn, ops
from mindspore.common.initializer import XavierUniform, initializer
import ms_migrate_helpers as helpers


class LeNet5(nn.Cell):
    """Two convolutions and three linear layers for 32x32 images: 62,006 parameters."""

    def __init__(self, num_classes: int = 10, in_channels: int = 3, dropout: float = 0.0) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, 6, 5, pad_mode="pad", has_bias=True)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="pad", has_bias=True)
        # 32 -> 28 -> 14 -> 10 -> 5: sixteen maps of 5x5 reach the classifier.
        self.fc1 = nn.Dense(16 * 5 * 5, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, num_classes)
        self.dropout = nn.Dropout(p=dropout)

        for _, module in self.cells_and_names():
            if isinstance(module, (nn.Conv2d, nn.Dense)):
                module.weight.set_data(
                    initializer(XavierUniform(1.0), module.weight.shape, module.weight.dtype)
                )
                module.bias.set_data(initializer("zeros", module.bias.shape, module.bias.dtype))

    def features(self, x: Tensor) -> Tensor:
        """Both convolutions, each followed by ReLU and a 2x2 max pooling."""
        x = helpers.max_pool2d(ops.relu(self.conv1(x)), 2)
        return helpers.max_pool2d(ops.relu(self.conv2(x)), 2)

    def construct(self, x: Tensor) -> Tensor:
        x = self.features(x)
        x = x.view(x.shape[0], -1)
        x = ops.relu(self.fc1(x))
        x = self.dropout(ops.relu(self.fc2(x)))
        return self.fc3(x)


def lenet5(num_classes: int = 10) -> LeNet5:
    return LeNet5(num_classes)
