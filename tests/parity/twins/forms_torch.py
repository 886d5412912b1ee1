"""Inputs and outputs of every form, in torch."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Answer:
    logits: torch.Tensor
    best: torch.Tensor


class Forms(nn.Module):
    """A dict of tensors, a flag for each row and a scale that may be left out."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 4)
        self.image = nn.Linear(6, 4)

    def forward(self, batch, flags, scale=None):
        h = self.image(batch["image"]) + self.words(batch["ids"])
        h = h * flags.unsqueeze(-1).to(h.dtype)
        return {"logits": h if scale is None else h * scale, "best": h.argmax(1)}


class Record(Forms):
    """The same, answered with a dataclass."""

    def forward(self, batch, flags, scale=None):
        return Answer(**super().forward(batch, flags, scale))


class Refined(nn.Module):
    """Takes one entry of a dict, and answers with another dict."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Linear(6, 4)

    def _features(self, x):
        low = self.stem(x)
        return {"low": low, "high": low * low}

    def forward(self, x):
        low = self._features(x)["low"]
        return {"out": low * 2}
