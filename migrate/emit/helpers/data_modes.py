"""torchvision's names of ways to resample, to pad and to augment, chosen while a program runs."""

from mindspore import Tensor
from mindspore.dataset import vision
from PIL import Image

from migrate.emit.helpers.data_transforms import as_array_of


class _ByValue(type):
    """An enumeration of torchvision's: `InterpolationMode("bicubic")` is MindSpore's member."""

    def __call__(cls, value):
        if isinstance(value, cls.kind):
            return value
        if value not in cls.values:
            raise ValueError(f"{value!r} is no {cls.__name__} that MindSpore has")
        return cls.kind[value.upper()]

    def __getitem__(cls, name):
        return cls.kind[name]

    def __getattr__(cls, name):
        return getattr(cls.kind, name)

    def __iter__(cls):
        return iter(cls.kind[value.upper()] for value in cls.values)

    def __instancecheck__(cls, value):
        return isinstance(value, cls.kind)


class InterpolationMode(metaclass=_ByValue):
    kind = vision.Inter
    values = ("nearest", "bilinear", "bicubic")


class AutoAugmentPolicy(metaclass=_ByValue):
    kind = vision.AutoAugmentPolicy
    values = ("imagenet", "cifar10", "svhn")


def get_dimensions(img):
    """[channels, height, width] of a PIL image or of a (batch of) CHW Tensor."""
    if isinstance(img, Image.Image):
        return [len(img.getbands()), img.height, img.width]
    shape = img.shape
    return [1 if len(shape) == 2 else shape[-3], shape[-2], shape[-1]]


class BoundedResize:
    """Resize whose longer side is at most max_size."""

    def __init__(self, size, interpolation=vision.Inter.BILINEAR, max_size=None, antialias=True):
        self.size = size[0] if isinstance(size, (list, tuple)) else size
        self.interpolation = interpolation
        self.max_size = max_size

    def __call__(self, img):
        array = as_array_of(img)
        image = img if isinstance(img, Image.Image) else Image.fromarray(array)
        short, long = sorted(image.size)
        new_short, new_long = self.size, int(self.size * long / short)
        if self.max_size is not None and new_long > self.max_size:
            new_short, new_long = int(self.max_size * new_short / new_long), self.max_size
        wide = image.width > image.height
        size = (new_short, new_long) if wide else (new_long, new_short)
        resized = vision.Resize(size, interpolation=self.interpolation)(image)
        return resized if not isinstance(img, Tensor) else Tensor(resized)
