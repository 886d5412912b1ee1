"""torchvision.transforms on images that are Tensors (..., C, H, W) as well as on PIL images."""

import math

import mindspore
import numpy as np
from mindspore import Tensor, ops
from mindspore.dataset import vision
from PIL import Image, ImageOps

_CUBIC = -0.5  # of the filter that PIL and torch's antialiased resize use
_WEIGHTS = (0.2989, 0.587, 0.114)


def _image(img):
    """Inside a Compose images are arrays."""
    return Tensor(img) if isinstance(img, np.ndarray) else img


def _sides(img):
    """Height and width."""
    return (img.height, img.width) if isinstance(img, Image.Image) else tuple(img.shape[-2:])


def _pair(size):
    if isinstance(size, (tuple, list)):
        return (int(size[0]), int(size[-1]))
    return (int(size), int(size))


def _back(values, like):
    """Results in the dtype of the image; bytes are cut off."""
    return values if values.dtype == like.dtype else values.astype(like.dtype)


def _filter_name(interpolation):
    """bilinear, nearest or bicubic, from MindSpore's or PIL's own names."""
    if isinstance(interpolation, int) and not isinstance(interpolation, vision.Inter):
        return {0: "nearest", 2: "bilinear", 3: "bicubic"}[int(interpolation)]
    names = {vision.Inter.NEAREST: "nearest", vision.Inter.BICUBIC: "bicubic"}
    return names.get(interpolation, "bilinear")


def _inter(interpolation):
    kinds = {"nearest": vision.Inter.NEAREST, "bicubic": vision.Inter.BICUBIC}
    return kinds.get(_filter_name(interpolation), vision.Inter.BILINEAR)


def _kernel(distance, cubic):
    x = np.abs(distance)
    if not cubic:
        return np.maximum(0.0, 1.0 - x)
    near = ((_CUBIC + 2) * x - (_CUBIC + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * _CUBIC - 4 * _CUBIC
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _resampling(old, new, name, antialias):
    """The matrix that makes `new` values of `old` ones."""
    if name == "nearest":
        chosen = np.minimum((np.arange(new) * (old / new)).astype(np.int64), old - 1)
        return np.eye(old, dtype=np.float32)[chosen]
    scale = old / new
    wide = max(scale, 1.0) if antialias else 1.0
    reach = (2.0 if name == "bicubic" else 1.0) * wide
    matrix = np.zeros((new, old))
    for row in range(new):
        centre = scale * (row + 0.5)
        first = max(int(centre - reach + 0.5), 0)
        last = min(int(centre + reach + 0.5), old)
        places = np.arange(first, last)
        weights = _kernel((places - centre + 0.5) / wide, name == "bicubic")
        matrix[row, first:last] = weights / weights.sum()
    return matrix.astype(np.float32)


def _new_sides(img, size, max_size):
    """torchvision's rule: one number is the shorter side."""
    height, width = _sides(img)
    if isinstance(size, (tuple, list)) and len(size) == 2:
        return tuple(int(side) for side in size)
    short = int(size[0] if isinstance(size, (tuple, list)) else size)
    low, high = sorted((height, width))
    long = int(short * high / low)
    if max_size is not None and long > max_size:
        short, long = int(max_size * short / long), max_size
    return (short, long) if height <= width else (long, short)


def resize(img, size, interpolation=vision.Inter.BILINEAR, max_size=None, antialias=True):
    """torchvision's resize; tensors are smoothed where they shrink, as PIL images are."""
    img = _image(img)
    new = _new_sides(img, size, max_size)
    if isinstance(img, Image.Image):
        return img if new == _sides(img) else vision.Resize(new, _inter(interpolation))(img)
    if new == _sides(img):
        return img
    name = _filter_name(interpolation)
    rows, columns = (
        Tensor(_resampling(old, side, name, antialias))
        for old, side in zip(_sides(img), new, strict=True)
    )
    values = ops.matmul(ops.matmul(rows, img.astype(mindspore.float32)), columns.T)
    if img.dtype == mindspore.uint8:
        values = ops.clamp(ops.round(values), 0, 255)
    return _back(values, img)


def hflip(img):
    """Left becomes right."""
    img = _image(img)
    return ImageOps.mirror(img) if isinstance(img, Image.Image) else ops.flip(img, (-1,))


def vflip(img):
    """Top becomes bottom."""
    img = _image(img)
    return ImageOps.flip(img) if isinstance(img, Image.Image) else ops.flip(img, (-2,))


def _four(padding):
    """Left, top, right, bottom."""
    if isinstance(padding, int):
        return (padding,) * 4
    padding = tuple(padding)
    return padding * (4 // len(padding)) if len(padding) != 4 else padding


def pad_image(img, padding, fill=0, padding_mode="constant"):
    """torchvision's pad, of a PIL image or a Tensor."""
    img = _image(img)
    left, top, right, bottom = _four(padding)
    if isinstance(img, Image.Image):
        if padding_mode == "constant":
            colour = tuple(fill) if isinstance(fill, (tuple, list)) else fill
            if isinstance(colour, int) and len(img.getbands()) > 1:
                colour = (colour,) * len(img.getbands())
            return ImageOps.expand(img, (left, top, right, bottom), colour)
        array = np.asarray(img)
        amounts = ((top, bottom), (left, right), *((0, 0),) * (array.ndim - 2))
        return Image.fromarray(np.pad(array, amounts, padding_mode))
    array = img.asnumpy()
    amounts = (*((0, 0),) * (array.ndim - 2), (top, bottom), (left, right))
    if padding_mode != "constant":
        return Tensor(np.pad(array, amounts, padding_mode))
    return Tensor(np.pad(array, amounts, constant_values=fill))


def crop(img, top, left, height, width):
    """Cut out a rectangle; what lies outside is black."""
    img = _image(img)
    if isinstance(img, Image.Image):
        return img.crop((left, top, left + width, top + height))
    rows, columns = _sides(img)
    over = (-left, -top, left + width - columns, top + height - rows)
    over = tuple(max(amount, 0) for amount in over)
    cut = img[..., max(top, 0) : max(top + height, 0), max(left, 0) : max(left + width, 0)]
    return pad_image(cut, over) if any(over) else cut


def center_crop(img, output_size):
    """The middle; a smaller image is padded, the odd pixel right and below."""
    img = _image(img)
    height, width = _pair(output_size)
    rows, columns = _sides(img)
    if height > rows or width > columns:
        gaps = (max(width - columns, 0), max(height - rows, 0))
        over = (gaps[0] // 2, gaps[1] // 2, (gaps[0] + 1) // 2, (gaps[1] + 1) // 2)
        img = pad_image(img, over)
        rows, columns = _sides(img)
    top, left = round((rows - height) / 2.0), round((columns - width) / 2.0)
    return crop(img, top, left, height, width)


def to_grayscale(img, num_output_channels=1):
    """torchvision's rgb_to_grayscale."""
    img = _image(img)
    if isinstance(img, Image.Image):
        return vision.Grayscale(num_output_channels)(img)
    if img.shape[-3] == 3:
        parts = [img[..., i, :, :].astype(mindspore.float32) * w for i, w in enumerate(_WEIGHTS)]
        img = _back((parts[0] + parts[1] + parts[2]).expand_dims(-3), img)
    if num_output_channels == 3:
        return ops.cat((img, img, img), axis=-3)
    return img


def rotate(img, angle, interpolation=vision.Inter.NEAREST, expand=False, center=None, fill=None):
    """Rotate counter-clockwise by degrees."""
    img = _image(img)
    if isinstance(img, Image.Image):
        filters = {"nearest": 0, "bilinear": 2, "bicubic": 3}
        name = filters[_filter_name(interpolation)]
        return img.rotate(angle, name, expand, center, fillcolor=fill)
    height, width = _sides(img)
    turn = math.radians(angle)
    cos, sin = math.cos(turn), math.sin(turn)
    rows, columns = height, width
    if expand:
        halves = width / 2, height / 2
        corners = np.array([[x * halves[0], y * halves[1]] for x in (-1, 1) for y in (-1, 1)])
        turned = corners @ np.array([[cos, -sin], [sin, cos]])
        span = np.ceil(np.round(turned.max(0), 4)) - np.floor(np.round(turned.min(0), 4))
        columns, rows = int(span[0]), int(span[1])
    shift = (0.0, 0.0) if center is None else (center[0] - width / 2, center[1] - height / 2)
    x = np.arange(columns)[None] + 0.5 - columns / 2 - shift[0]
    y = np.arange(rows)[:, None] + 0.5 - rows / 2 - shift[1]
    from_x = cos * x - sin * y + shift[0] + width / 2 - 0.5
    from_y = sin * x + cos * y + shift[1] + height / 2 - 0.5
    return _sampled(img, from_y, from_x, _filter_name(interpolation), fill)


def _sampled(img, y, x, name, fill):
    """The image's values at fractional places; outside of it the fill."""
    array = img.asnumpy()
    height, width = array.shape[-2:]
    fill = 0 if fill is None else fill[0] if isinstance(fill, (tuple, list)) else fill

    def at(rows, columns):
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        picked = array[..., rows.clip(0, height - 1), columns.clip(0, width - 1)]
        return np.where(inside, picked, fill)

    if name == "nearest":
        found = at(np.rint(y).astype(int), np.rint(x).astype(int))
    else:
        top, left = np.floor(y).astype(int), np.floor(x).astype(int)
        down, right = y - top, x - left
        upper = at(top, left) * (1 - right) + at(top, left + 1) * right
        lower = at(top + 1, left) * (1 - right) + at(top + 1, left + 1) * right
        found = upper * (1 - down) + lower * down
    if array.dtype.kind in "iu" and found.dtype.kind == "f":
        found = np.rint(found)
    return Tensor(np.ascontiguousarray(found.astype(array.dtype)))


def five_crop(img, size):
    """The four corners and the middle."""
    height, width = _pair(size)
    rows, columns = _sides(img)
    corners = [(0, 0), (0, columns - width), (rows - height, 0), (rows - height, columns - width)]
    parts = [crop(img, top, left, height, width) for top, left in corners]
    return (*parts, center_crop(img, (height, width)))


def ten_crop(img, size, vertical_flip=False):
    """five_crop of the image and of its mirror image."""
    other = vflip(img) if vertical_flip else hflip(img)
    return five_crop(img, size) + five_crop(other, size)
