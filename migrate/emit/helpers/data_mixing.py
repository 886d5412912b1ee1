"""MixUp and CutMix of torchvision.transforms.v2, on a batch of images and its labels."""

import math
import random

import numpy as np
from mindspore import Tensor


class _Mixing:
    """Each image with its neighbour in the batch; labels become shares of two classes."""

    def __init__(self, *, alpha=1.0, num_classes=None):
        self.alpha, self.num_classes = float(alpha), num_classes

    def __call__(self, *inputs):
        alone = len(inputs) == 1
        images, labels = inputs[0] if alone else inputs
        images, labels = images.asnumpy(), self._shares(labels.asnumpy())
        share = random.betavariate(self.alpha, self.alpha)
        images, share = self.mixed(images, np.roll(images, 1, 0), share)
        own, other = np.float32(share), np.float32(1.0 - share)
        labels = np.roll(labels, 1, 0) * other + labels * own
        return Tensor(images), Tensor(labels)

    def _shares(self, labels):
        if labels.ndim == 1:
            if self.num_classes is None:
                raise ValueError("labels that are indices need num_classes")
            labels = np.eye(self.num_classes, dtype=np.float32)[labels]
        return labels if labels.dtype.kind == "f" else labels.astype(np.float32)


class MixUp(_Mixing):
    """Weighted means of two images."""

    def mixed(self, images, others, share):
        kind = images.dtype.type
        return others * kind(1.0 - share) + images * kind(share), share


class CutMix(_Mixing):
    """A rectangle of each image comes from its neighbour."""

    def mixed(self, images, others, share):
        height, width = images.shape[-2:]
        row, column = random.randrange(height), random.randrange(width)
        half = 0.5 * math.sqrt(1.0 - share)
        high, wide = int(half * height), int(half * width)
        top, bottom = max(row - high, 0), min(row + high, height)
        left, right = max(column - wide, 0), min(column + wide, width)
        images = images.copy()
        images[..., top:bottom, left:right] = others[..., top:bottom, left:right]
        return images, 1.0 - (bottom - top) * (right - left) / (height * width)
