"""Blends of the images of a batch, with their labels."""

import math
import random

import torch
from torch import Tensor, nn
from torchvision.transforms import functional as F


class Blend(nn.Module):
    """What Mixup and Cutmix share: labels as shares of classes, and how often to blend."""

    def __init__(self, num_classes: int, p: float = 0.5, alpha: float = 1.0) -> None:
        super().__init__()
        if num_classes < 1:
            raise ValueError("there must be a class")
        assert alpha > 0, "alpha must be positive"
        self.num_classes = num_classes
        self.p = p
        self.alpha = alpha

    def share(self) -> float:
        drawn = torch._sample_dirichlet(torch.tensor([self.alpha, self.alpha]))
        return float(drawn[0])

    def forward(self, batch: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        if batch.ndim != 4:
            raise ValueError(f"a batch of images has 4 dimensions, not {batch.ndim}")
        if target.dtype != torch.int64:
            raise TypeError(f"labels are int64, not {target.dtype}")
        batch = batch.clone()
        target = nn.functional.one_hot(target, num_classes=self.num_classes).to(dtype=batch.dtype)
        if torch.rand(1).item() >= self.p:
            return batch, target
        return self.blended(batch, target)

    def blended(self, batch: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}(p={self.p}, alpha={self.alpha})"


class Mixup(Blend):
    def blended(self, batch: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        share = self.share()
        others = batch.roll(1, 0)
        others.mul_(1.0 - share)
        batch.mul_(share).add_(others)
        labels = target.roll(1, 0)
        labels.mul_(1.0 - share)
        target.mul_(share).add_(labels)
        return batch, target


class Cutmix(Blend):
    def blended(self, batch: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        _, height, width = F.get_dimensions(batch)
        x = torch.randint(width, (1,))
        y = torch.randint(height, (1,))
        half = 0.5 * math.sqrt(1.0 - self.share())
        dx, dy = int(half * width), int(half * height)
        left = int(torch.clamp(x - dx, min=0))
        top = int(torch.clamp(y - dy, min=0))
        right = int(torch.clamp(x + dx, max=width))
        bottom = int(torch.clamp(y + dy, max=height))
        batch[:, :, top:bottom, left:right] = batch.roll(1, 0)[:, :, top:bottom, left:right]
        share = 1.0 - (right - left) * (bottom - top) / (width * height)
        labels = target.roll(1, 0).mul_(1.0 - share)
        target.mul_(share).add_(labels)
        return batch, target


class OneOf:
    """One of several blends, for each batch anew."""

    def __init__(self, blends) -> None:
        self.blends = nn.ModuleList(blends)

    def __call__(self, *inputs):
        return random.choice(self.blends)(*inputs)
