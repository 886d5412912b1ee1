"""The feature mixer in MindSpore, faithful."""

import numpy as np
from mindspore import Parameter, Tensor, nn, ops


class SELU(nn.Cell):
    """By its formula: the CPU kernel's gradient is wrong for negative inputs."""

    def construct(self, x):
        negative = 1.6732632423543772 * (ops.exp(ops.minimum(x, ops.zeros_like(x))) - 1)
        return 1.0507009873554805 * ops.where(x > 0, x, negative)


class Mixer(nn.Cell):
    def __init__(self, width=16):
        super().__init__()
        self.inp = nn.Dense(width, width)
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)
        self.act = nn.GELU(approximate=False)
        self.mix = Parameter(Tensor(np.zeros((width, width), np.float32)), name="mix")
        self.gate = nn.SequentialCell(nn.Dense(width, width), nn.Softmax(axis=-1))
        self.selu = SELU()
        self.prelu = nn.PReLU(width)
        self.bn = nn.BatchNorm1d(width)
        self.swish = nn.SiLU()
        self.conv = nn.Conv1d(1, 4, 3, pad_mode="pad", padding=1, has_bias=True)
        self.out = nn.Dense(4 * width, 5)

    def construct(self, x):
        h = self.act(self.norm(self.inp(x)))
        h = ops.matmul(h, self.mix.T)
        h = h * self.gate(h)
        h = self.prelu(self.selu(4 * h))
        h = (h - h.mean(1, keep_dims=True)) / (ops.std(h, axis=1, ddof=1, keepdims=True) + 0.1)
        h = self.swish(self.bn(ops.clamp(h, -1.0, 1.0)))
        h = ops.flatten(self.conv(h.expand_dims(1)), start_dim=1)
        return {"logits": self.out(h), "features": h}
