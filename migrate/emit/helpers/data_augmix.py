"""torchvision's AugMix: several chains of random changes, mixed with the image itself."""

import math
import random

import numpy as np
from mindspore import Tensor
from mindspore.dataset import vision
from PIL import Image, ImageEnhance, ImageOps

from migrate.emit.helpers.data_geometry import PIL_FILTERS, affine

_ENHANCED = {
    "Brightness": ImageEnhance.Brightness,
    "Color": ImageEnhance.Color,
    "Contrast": ImageEnhance.Contrast,
    "Sharpness": ImageEnhance.Sharpness,
}


class AugMix:
    """A PIL image or uint8 CHW Tensor with changes of random kinds, weights and depths."""

    def __init__(
        self,
        severity=3,
        mixture_width=3,
        chain_depth=-1,
        alpha=1.0,
        all_ops=True,
        interpolation=vision.Inter.BILINEAR,
        fill=None,
    ):
        if not 1 <= severity <= 10:
            raise ValueError(f"The severity must be between [1, 10]. Got {severity} instead.")
        self.severity, self.mixture_width, self.chain_depth = severity, mixture_width, chain_depth
        self.alpha, self.all_ops = alpha, all_ops
        self.interpolation, self.fill = interpolation, fill

    def __call__(self, img):
        if isinstance(img, Image.Image):
            return Image.fromarray(self._mixed(img))
        pixels = img.asnumpy() if isinstance(img, Tensor) else np.asarray(img)
        if pixels.dtype != np.uint8:
            raise TypeError(f"AugMix takes images of bytes, not {pixels.dtype}")
        whole = Image.fromarray(pixels[0] if len(pixels) == 1 else pixels.transpose(1, 2, 0))
        mixed = self._mixed(whole)
        return Tensor(mixed[None] if mixed.ndim == 2 else mixed.transpose(2, 0, 1).copy())

    def _mixed(self, img):
        kept, changed = np.random.dirichlet([self.alpha] * 2)
        weights = np.random.dirichlet([self.alpha] * self.mixture_width) * changed
        mixed = np.float32(kept) * np.asarray(img, np.float32)
        for weight in weights:
            chain = img
            depth = self.chain_depth if self.chain_depth > 0 else random.randint(1, 3)
            for _ in range(depth):
                chain = self._changed(chain, *self._drawn(img.size))
            mixed = mixed + np.float32(weight) * np.asarray(chain, np.float32)
        return mixed.astype(np.uint8)

    def _drawn(self, size):
        """A kind of change and how strong it is."""
        most = {
            "ShearX": 0.3,
            "ShearY": 0.3,
            "TranslateX": size[0] / 3.0,
            "TranslateY": size[1] / 3.0,
            "Rotate": 30.0,
        }
        unsigned = ["Posterize", "Solarize", "AutoContrast", "Equalize"]
        if self.all_ops:
            most |= dict.fromkeys(_ENHANCED, 0.9)
        kind = random.choice([*most, *unsigned])
        level = random.randrange(self.severity)  # of ten
        if kind in most:
            return kind, most[kind] * level / 9 * random.choice((1.0, -1.0))
        return kind, {
            "Posterize": 4 - round(level * 4 / 9),
            "Solarize": 255.0 * (1 - level / 9),
        }.get(kind, 0.0)

    def _changed(self, img, kind, amount):
        bands = len(img.getbands())
        fill = (self.fill,) * bands if isinstance(self.fill, (int, float)) else self.fill
        if kind in _ENHANCED:
            return _ENHANCED[kind](img).enhance(1.0 + amount)
        if kind == "Posterize":
            return ImageOps.posterize(img, int(amount))
        if kind == "Solarize":
            return ImageOps.solarize(img, amount)
        if kind == "AutoContrast":
            return ImageOps.autocontrast(img)
        if kind == "Equalize":
            return ImageOps.equalize(img)
        if kind == "Rotate":
            return img.rotate(amount, PIL_FILTERS[self.interpolation], fillcolor=fill)
        degrees = math.degrees(math.atan(amount))
        moved, sheared, center = (0, 0), (0.0, 0.0), None
        if kind.startswith("Shear"):
            sheared, center = (degrees, 0.0) if kind == "ShearX" else (0.0, degrees), (0, 0)
        else:
            moved = (int(amount), 0) if kind == "TranslateX" else (0, int(amount))
        return affine(img, 0.0, moved, 1.0, sheared, self.interpolation, fill, center)
