"""Crops, flips and warps of torchvision.transforms, on PIL images."""

import math
import random

import numpy as np
from mindspore.dataset import vision
from PIL import Image

from migrate.emit.helpers.data_tensor_images import crop, resize

# mindspore.dataset.vision.Inter by PIL's filter
PIL_FILTERS = {
    vision.Inter.NEAREST: Image.Resampling.NEAREST,
    vision.Inter.BILINEAR: Image.Resampling.BILINEAR,
    vision.Inter.BICUBIC: Image.Resampling.BICUBIC,
}


def resized_crop(
    img, top, left, height, width, size, interpolation=vision.Inter.BILINEAR, antialias=True
):
    """Cut out a rectangle and resize it to (height, width)."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def affine(
    img, angle, translate, scale, shear, interpolation=vision.Inter.NEAREST, fill=None, center=None
):
    """Rotate clockwise, move, scale and shear a PIL image around its centre."""
    x, y = (img.width * 0.5, img.height * 0.5) if center is None else center
    shear = (shear, 0.0) if isinstance(shear, (int, float)) else tuple(shear) * 2
    shear_x, shear_y = math.radians(shear[0]), math.radians(shear[1])
    turn = math.radians(angle)
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -a * math.tan(shear_x) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -c * math.tan(shear_x) + math.cos(turn)
    # PIL asks where a pixel of the result comes from: the inverse map.
    inverse = np.array([[d, -b], [-c, a]]) / scale
    origin = np.array([x, y]) - inverse @ np.array([x + translate[0], y + translate[1]])
    matrix = (*inverse[0], origin[0], *inverse[1], origin[1])
    kind = Image.Transform.AFFINE
    return img.transform(img.size, kind, matrix, PIL_FILTERS[interpolation], fillcolor=fill)


class RandomAffine:
    """affine with random amounts."""

    def __init__(
        self,
        degrees,
        translate=None,
        scale=None,
        shear=None,
        interpolation=vision.Inter.NEAREST,
        fill=0,
        center=None,
    ):
        self.degrees = (-degrees, degrees) if isinstance(degrees, (int, float)) else degrees
        self.translate = translate or (0, 0)
        self.scale = scale or (1.0, 1.0)
        shear = (-shear, shear) if isinstance(shear, (int, float)) else tuple(shear or (0.0, 0.0))
        self.shear = shear if len(shear) == 4 else (*shear, 0.0, 0.0)
        self.interpolation, self.fill, self.center = interpolation, fill, center

    def __call__(self, img):
        furthest = (self.translate[0] * img.width, self.translate[1] * img.height)
        return affine(
            img,
            random.uniform(*self.degrees),
            [round(random.uniform(-most, most)) for most in furthest],
            random.uniform(*self.scale),
            (random.uniform(*self.shear[:2]), random.uniform(*self.shear[2:])),
            self.interpolation,
            (self.fill,) * len(img.getbands())
            if isinstance(self.fill, (int, float))
            else self.fill,
            self.center,
        )


def perspective(img, startpoints, endpoints, interpolation=vision.Inter.BILINEAR, fill=None):
    """Move four points of a PIL image to four others."""
    rows, values = [], []
    for (x, y), (u, v) in zip(endpoints, startpoints, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    matrix = np.linalg.solve(np.array(rows, np.float64), np.array(values, np.float64))
    # torchvision rounds the coefficients to single precision.
    matrix = matrix.astype(np.float32).tolist()
    kind = Image.Transform.PERSPECTIVE
    return img.transform(img.size, kind, matrix, PIL_FILTERS[interpolation], fillcolor=fill)


class RandomPerspective:
    """perspective with random corners, with probability p."""

    def __init__(self, distortion_scale=0.5, p=0.5, interpolation=vision.Inter.BILINEAR, fill=0):
        self.distortion_scale, self.p = distortion_scale, p
        self.interpolation, self.fill = interpolation, fill

    def __call__(self, img):
        if random.random() >= self.p:
            return img
        width, height = img.size
        most_x = int(self.distortion_scale * (width // 2))
        most_y = int(self.distortion_scale * (height // 2))
        corners = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        moved = [
            [abs(x - random.randint(0, most_x)), abs(y - random.randint(0, most_y))]
            for x, y in corners
        ]
        fill = (
            (self.fill,) * len(img.getbands()) if isinstance(self.fill, (int, float)) else self.fill
        )
        return perspective(img, corners, moved, self.interpolation, fill)
