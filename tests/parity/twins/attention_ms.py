"""The transformer in MindSpore, faithful."""

import math

import mindspore
import numpy as np
from mindspore import Parameter, Tensor, nn, ops


class Attention(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Dense(width, width)
        self.key = nn.Dense(width, width)
        self.value = nn.Dense(width, width)
        self.proj = nn.Dense(width, width)

    def split(self, x):
        b, t, w = x.shape
        return x.reshape(b, t, self.heads, w // self.heads).swapaxes(1, 2)

    def construct(self, x):
        b, t, w = x.shape
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / math.sqrt(w // self.heads)
        hidden = ops.triu(ops.ones((t, t), mindspore.float32), diagonal=1) > 0
        scores = ops.masked_fill(scores, hidden, -1e9)
        weights = ops.softmax(scores, axis=-1)
        return self.proj(ops.matmul(weights, v).swapaxes(1, 2).reshape(b, t, w))


class Block(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm((width,), epsilon=1e-5)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm((width,), epsilon=1e-5)
        self.mlp = nn.SequentialCell(
            nn.Dense(width, 4 * width), nn.GELU(approximate=False), nn.Dense(4 * width, width)
        )

    def construct(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Cell):
    def __init__(self, words=40, width=16, length=12):
        super().__init__()
        self.embed = nn.Embedding(words, width, padding_idx=0)
        self.position = Parameter(Tensor(np.zeros((length, width), np.float32)), name="position")
        self.block1 = Block(width, 4)
        self.block2 = Block(width, 4)
        self.norm = nn.LayerNorm((width,), epsilon=1e-5)
        self.head = nn.Dense(width, words, has_bias=False)

    def construct(self, ids):
        x = self.embed(ids)
        # MindSpore gives the padding row a gradient; torch does not.
        x = ops.where((ids == 0).expand_dims(-1), ops.stop_gradient(x), x)
        x = x + self.position[: ids.shape[1]]
        x = self.block2(self.block1(x))
        return self.head(self.norm(x))
