"""torchvision.utils and torchvision.io: image grids and image files as CHW Tensors."""

import io
import math

import numpy as np
from mindspore import Tensor
from PIL import Image


def make_grid(
    tensor, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0
):
    """Lay a batch of images out in rows of nrow; gives one CHW Tensor."""
    if isinstance(tensor, (list, tuple)):
        images = np.stack([image.asnumpy() for image in tensor])
    else:
        images = tensor.asnumpy()
    if images.ndim == 2:
        images = images[None]
    if images.ndim == 3:
        images = images[None]
    if images.shape[1] == 1:
        images = np.repeat(images, 3, axis=1)
    if normalize:
        parts = images if scale_each else images[None]
        images = np.stack([_to_unit_range(part, value_range) for part in parts])
        images = images if scale_each else images[0]
    if images.shape[0] == 1:
        return Tensor(images[0])
    count, channels, height, width = images.shape
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    cell_height, cell_width = height + padding, width + padding
    shape = (channels, rows * cell_height + padding, columns * cell_width + padding)
    grid = np.full(shape, pad_value, images.dtype)
    for number, image in enumerate(images):
        top = number // columns * cell_height + padding
        left = number % columns * cell_width + padding
        grid[:, top : top + height, left : left + width] = image
    return Tensor(grid)


def _to_unit_range(image, value_range):
    low, high = (image.min(), image.max()) if value_range is None else value_range
    return (np.clip(image, low, high) - low) / max(high - low, 1e-5)


def save_image(tensor, fp, format=None, **kwargs):
    """Write a batch of images between 0 and 1 as one file."""
    grid = make_grid(tensor, **kwargs).asnumpy()
    pixels = np.clip(grid * 255 + 0.5, 0, 255).astype(np.uint8).transpose(1, 2, 0)
    Image.fromarray(pixels).save(fp, format=format)


def read_image(path, mode="UNCHANGED", apply_exif_orientation=False):
    """An image file as a uint8 CHW Tensor."""
    return _as_chw(Image.open(path), mode)


def decode_image(input, mode="UNCHANGED", apply_exif_orientation=False):
    """The bytes of an image file, as a uint8 Tensor, or a path, as a uint8 CHW Tensor."""
    if isinstance(input, Tensor):
        return _as_chw(Image.open(io.BytesIO(input.asnumpy().tobytes())), mode)
    return _as_chw(Image.open(input), mode)


def _as_chw(image, mode):
    modes = {"GRAY": "L", "GRAY_ALPHA": "LA", "RGB": "RGB", "RGB_ALPHA": "RGBA"}
    if mode != "UNCHANGED":
        image = image.convert(modes[mode])
    pixels = np.array(image)
    return Tensor(pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1).copy())


def write_png(input, filename, compression_level=6):
    """Write a uint8 CHW Tensor as PNG."""
    _from_chw(input).save(filename, format="PNG", compress_level=compression_level)


def write_jpeg(input, filename, quality=75):
    """Write a uint8 CHW Tensor as JPEG."""
    _from_chw(input).save(filename, format="JPEG", quality=quality)


def _from_chw(tensor):
    pixels = tensor.asnumpy().transpose(1, 2, 0)
    return Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)


def read_file(path):
    """The bytes of a file as a uint8 Tensor."""
    return Tensor(np.fromfile(path, np.uint8))
