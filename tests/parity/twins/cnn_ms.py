"""The same CNN in MindSpore, faithful."""

from mindspore import nn, ops


class Block(nn.Cell):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, pad_mode="pad", padding=1, has_bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, pad_mode="pad", padding=1, has_bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()

    def construct(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out = out + x
        return self.relu(out)


class Upsample(nn.Cell):
    def construct(self, x):
        size = (x.shape[2] * 2, x.shape[3] * 2)
        return ops.interpolate(x, size=size, mode="bilinear", align_corners=False)


class Net(nn.Cell):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 5, stride=1, pad_mode="pad", padding=2, has_bias=True)
        self.bn1 = nn.BatchNorm2d(8)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, pad_mode="pad", padding=1)
        self.block1 = Block(8)
        self.down = nn.SequentialCell(
            nn.Conv2d(8, 16, 3, stride=2, pad_mode="pad", padding=1, has_bias=True),
            nn.BatchNorm2d(16),
            nn.LeakyReLU(alpha=0.01),
        )
        self.block2 = Block(16)
        self.up = Upsample()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.dropout = nn.Dropout(p=0.1)
        self.fc = nn.Dense(16, classes)

    def construct(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.block1(x)
        x = self.block2(self.down(x))
        x = self.avgpool(self.up(x))
        x = ops.flatten(x, start_dim=1)
        return self.fc(self.dropout(x))
