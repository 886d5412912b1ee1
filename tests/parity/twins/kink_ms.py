"""The same in MindSpore, with a rounding error that shuts the ReLU."""

from mindspore import nn


class Rounded(nn.Dense):
    """As large an error as a kernel may make: a few units in the last place."""

    def construct(self, x):
        return super().construct(x) - 8e-7


class Kink(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = Rounded(2, 3)
        self.relu = nn.ReLU()
        self.out = nn.Dense(3, 2)

    def construct(self, x):
        return self.out(self.relu(self.fc(x)))
