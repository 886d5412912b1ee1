"""torchvision.transforms as objects, for images that are Tensors as well as for PIL images."""

import math
import random

from mindspore.dataset import vision
from PIL import Image

from migrate.emit.helpers.data_tensor_images import (
    _pair,
    _sides,
    center_crop,
    crop,
    five_crop,
    hflip,
    pad_image,
    resize,
    rotate,
    ten_crop,
    to_grayscale,
    vflip,
)


class Resize:
    """torchvision's Resize."""

    def __init__(self, size, interpolation=vision.Inter.BILINEAR, max_size=None, antialias=True):
        self.size, self.interpolation = size, interpolation
        self.max_size, self.antialias = max_size, antialias

    def __call__(self, img):
        return resize(img, self.size, self.interpolation, self.max_size, self.antialias)


class CenterCrop:
    """torchvision's CenterCrop."""

    def __init__(self, size):
        self.size = _pair(size)

    def __call__(self, img):
        return center_crop(img, self.size)


class Pad:
    """torchvision's Pad."""

    def __init__(self, padding, fill=0, padding_mode="constant"):
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def __call__(self, img):
        return pad_image(img, self.padding, self.fill, self.padding_mode)


class Grayscale:
    """torchvision's Grayscale."""

    def __init__(self, num_output_channels=1):
        self.num_output_channels = num_output_channels

    def __call__(self, img):
        return to_grayscale(img, self.num_output_channels)


class RandomGrayscale:
    """Grey with probability p, with as many channels as before."""

    def __init__(self, p=0.1):
        self.p = p

    def __call__(self, img):
        channels = len(img.getbands()) if isinstance(img, Image.Image) else img.shape[-3]
        return to_grayscale(img, channels) if random.random() < self.p else img


class RandomHorizontalFlip:
    """Left becomes right with probability p."""

    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        return hflip(img) if random.random() < self.p else img


class RandomVerticalFlip:
    """Top becomes bottom with probability p."""

    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        return vflip(img) if random.random() < self.p else img


class RandomCrop:
    """torchvision's RandomCrop."""

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        self.size, self.padding, self.pad_if_needed = _pair(size), padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    def __call__(self, img):
        if self.padding is not None:
            img = pad_image(img, self.padding, self.fill, self.padding_mode)
        height, width = self.size
        rows, columns = _sides(img)
        if self.pad_if_needed and (columns < width or rows < height):
            over = (max(width - columns, 0), max(height - rows, 0))
            img = pad_image(img, over, self.fill, self.padding_mode)
            rows, columns = _sides(img)
        if rows < height or columns < width:
            raise ValueError(f"Required crop size {self.size} is larger than {(rows, columns)}")
        top, left = random.randint(0, rows - height), random.randint(0, columns - width)
        return crop(img, top, left, height, width)


class RandomResizedCrop:
    """torchvision's RandomResizedCrop."""

    def __init__(
        self,
        size,
        scale=(0.08, 1.0),
        ratio=(3.0 / 4.0, 4.0 / 3.0),
        interpolation=vision.Inter.BILINEAR,
        antialias=True,
    ):
        self.size, self.scale, self.ratio = _pair(size), scale, ratio
        self.interpolation, self.antialias = interpolation, antialias

    def _place(self, rows, columns):
        for _ in range(10):
            area = rows * columns * random.uniform(*self.scale)
            shape = math.exp(random.uniform(*map(math.log, self.ratio)))
            width, height = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
            if 0 < width <= columns and 0 < height <= rows:
                top, left = random.randint(0, rows - height), random.randint(0, columns - width)
                return top, left, height, width
        shape = min(max(columns / rows, self.ratio[0]), self.ratio[1])
        width, height = min(columns, round(rows * shape)), min(rows, round(columns / shape))
        return (rows - height) // 2, (columns - width) // 2, height, width

    def __call__(self, img):
        part = crop(img, *self._place(*_sides(img)))
        return resize(part, self.size, self.interpolation, antialias=self.antialias)


class FiveCrop:
    """torchvision's FiveCrop."""

    def __init__(self, size):
        self.size = _pair(size)

    def __call__(self, img):
        return five_crop(img, self.size)


class TenCrop:
    """torchvision's TenCrop."""

    def __init__(self, size, vertical_flip=False):
        self.size, self.vertical_flip = _pair(size), vertical_flip

    def __call__(self, img):
        return ten_crop(img, self.size, self.vertical_flip)


class RandomRotation:
    """torchvision's RandomRotation."""

    def __init__(
        self, degrees, interpolation=vision.Inter.NEAREST, expand=False, center=None, fill=0
    ):
        self.degrees = (-degrees, degrees) if isinstance(degrees, (int, float)) else degrees
        self.interpolation, self.expand = interpolation, expand
        self.center, self.fill = center, fill

    def __call__(self, img):
        fill = self.fill
        if isinstance(img, Image.Image) and isinstance(fill, (int, float)):
            fill = (int(fill),) * len(img.getbands()) if len(img.getbands()) > 1 else int(fill)
        angle = random.uniform(*self.degrees)
        return rotate(img, angle, self.interpolation, self.expand, self.center, fill)
