"""The same in MindSpore, faithful."""

from dataclasses import dataclass

import mindspore
from mindspore import nn


@dataclass
class Answer:
    logits: mindspore.Tensor
    best: mindspore.Tensor


class Forms(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 4)
        self.image = nn.Dense(6, 4)

    def construct(self, batch, flags, scale=None):
        h = self.image(batch["image"]) + self.words(batch["ids"])
        h = h * flags.expand_dims(-1).astype(h.dtype)
        return {"logits": h if scale is None else h * scale, "best": h.argmax(1)}


class Record(Forms):
    def construct(self, batch, flags, scale=None):
        return Answer(**super().construct(batch, flags, scale))


class Refined(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Dense(6, 4)

    def _features(self, x):
        low = self.stem(x)
        return {"low": low, "high": low * low}

    def construct(self, x):
        low = self._features(x)["low"]
        return {"out": low * 2}
