"""torchvision.transforms.functional: colours of images that are Tensors, or PIL images."""

import mindspore
from mindspore import Tensor, ops
from mindspore.dataset import vision
from PIL import Image

from migrate.emit.helpers.data_tensor_images import _image, to_grayscale


def _most(img):
    """The value of white."""
    return 1.0 if img.is_floating_point() else 255


def _mixed(img, other, share):
    """share of the image, the rest of the other."""
    values = img.astype(mindspore.float32) * share + other * (1.0 - share)
    return ops.clamp(values, 0, float(_most(img))).astype(img.dtype)


def adjust_brightness(img, brightness_factor):
    """torchvision's adjust_brightness."""
    if isinstance(img, Image.Image):
        return vision.AdjustBrightness(brightness_factor)(img)
    img = _image(img)
    return _mixed(img, 0.0, brightness_factor)


def adjust_contrast(img, contrast_factor):
    """torchvision's adjust_contrast: away from the mean of the grey image."""
    if isinstance(img, Image.Image):
        return vision.AdjustContrast(contrast_factor)(img)
    img = _image(img)
    mean = to_grayscale(img).astype(mindspore.float32).mean(axis=(-3, -2, -1), keep_dims=True)
    return _mixed(img, mean, contrast_factor)


def adjust_saturation(img, saturation_factor):
    """torchvision's adjust_saturation: away from the grey image."""
    if isinstance(img, Image.Image):
        return vision.AdjustSaturation(saturation_factor)(img)
    img = _image(img)
    return _mixed(img, to_grayscale(img).astype(mindspore.float32), saturation_factor)


def adjust_gamma(img, gamma, gain=1):
    """torchvision's adjust_gamma."""
    if isinstance(img, Image.Image):
        return vision.AdjustGamma(gamma, gain)(img)
    img = _image(img)
    if img.is_floating_point():
        return ops.clamp(gain * img**gamma, 0.0, 1.0)
    values = ops.clamp(gain * (img.astype(mindspore.float32) / 255) ** gamma, 0.0, 1.0)
    return (values * (256 - 1e-3)).astype(img.dtype)


def invert(img):
    """torchvision's invert."""
    if isinstance(img, Image.Image):
        return vision.Invert()(img)
    img = _image(img)
    return (_most(img) - img).astype(img.dtype)


def solarize(img, threshold):
    """Values from the threshold on are inverted."""
    if isinstance(img, Image.Image):
        return vision.Solarize((float(threshold), 255.0))(img)
    img = _image(img)
    return ops.where(img >= threshold, invert(img), img)


def erase(img, i, j, h, w, v, inplace=False):
    """A rectangle gets the value v."""
    array = _image(img).asnumpy().copy()
    array[..., i : i + h, j : j + w] = v.asnumpy() if isinstance(v, Tensor) else v
    if inplace:
        img[..., i : i + h, j : j + w] = Tensor(array)[..., i : i + h, j : j + w]
        return img
    return Tensor(array)
