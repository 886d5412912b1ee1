"""torchvision.transforms that mindspore.dataset.vision lacks or applies differently."""

import random

import numpy as np
from mindspore import Tensor
from mindspore.dataset import vision
from PIL import Image, ImageEnhance, ImageOps

from migrate.emit.helpers.helper_origin import of_helpers


class Compose:
    """Apply transforms in turn, to PIL images, then to CHW arrays, which end as a Tensor."""

    def __init__(self, transforms):
        # MindSpore's ToTensor divides float images by 255, too.
        self.transforms = [
            ToTensor() if type(one) is vision.ToTensor else one for one in transforms
        ]
        on_arrays = (vision.Normalize, vision.RandomErasing, vision.Erase)
        layout_changed = False
        for one in self.transforms:
            from_mindspore = type(one).__module__.startswith("mindspore")
            if layout_changed and from_mindspore and not isinstance(one, on_arrays):
                raise TypeError(
                    f"{type(one).__name__} takes images, but comes after ToTensor: "
                    "it would mistake channels for rows. Move ToTensor behind it."
                )
            layout_changed = layout_changed or isinstance(
                one, (vision.ToTensor, PILToTensor, ToDtype)
            )

    def __call__(self, img):
        for transform in self.transforms:
            img = transformed(transform, img)
        if type(img) is np.ndarray and type(transform).__module__.startswith("mindspore"):
            return Tensor.from_numpy(np.ascontiguousarray(img))  # nobody else's: no copy
        return as_tensor(img)


def transformed(transform, img):
    """MindSpore's transforms take arrays; the program's own take Tensors, as torch's do."""
    kind = type(transform)
    arrays = kind.__module__.startswith("mindspore") or of_helpers(kind)
    return transform(as_array_of(img) if arrays else as_tensor(img))


def as_tensor(img):
    """An array as a Tensor; a PIL image stays one."""
    return Tensor(img) if isinstance(img, np.ndarray) else img


def as_array_of(img):
    """A Tensor as an array; a PIL image stays one."""
    return img.asnumpy() if isinstance(img, Tensor) else img


class ToTensor(vision.ToTensor):
    """A PIL image or HWC array as a CHW Tensor: bytes between 0 and 1, other values as they are."""

    def __call__(self, pic):
        kinds = {"I": np.int32, "I;16": np.int16, "F": np.float32}
        mode = getattr(pic, "mode", "")
        array = np.array(pic, kinds.get(mode))
        if mode == "1":
            array = array.astype(np.uint8) * 255
        array = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
        if array.dtype == np.uint8:
            scaled = np.empty(array.shape, np.float32)
            array = np.divide(array, np.float32(255), out=scaled, dtype=np.float32)
        # Arrays of its own: no second copy.
        return Tensor.from_numpy(np.ascontiguousarray(array))


class Normalize:
    """(x - mean) / std for each channel, of a CHW or NCHW Tensor or array."""

    def __init__(self, mean, std, inplace=False):
        self.mean, self.std = mean, std
        self.means = np.asarray(mean, np.float32).reshape(-1, 1, 1)
        self.deviations = np.asarray(std, np.float32).reshape(-1, 1, 1)

    def __call__(self, tensor):
        if isinstance(tensor, np.ndarray):
            return (tensor - self.means) / self.deviations
        mean, std = Tensor(self.means), Tensor(self.deviations)
        return (tensor - mean.astype(tensor.dtype)) / std.astype(tensor.dtype)


class RandomApply:
    """Apply all transforms, or none."""

    def __init__(self, transforms, p=0.5):
        self.transforms = transforms
        self.p = p

    def __call__(self, img):
        return Compose(self.transforms)(img) if random.random() < self.p else img


class RandomChoice:
    """Apply one of the transforms, p giving their weights."""

    def __init__(self, transforms, p=None):
        self.transforms = transforms
        self.p = p

    def __call__(self, *inputs):
        """An image, or what else the transforms take: a batch and its labels."""
        chosen = random.choices(self.transforms, weights=self.p)[0]
        return transformed(chosen, *inputs) if len(inputs) == 1 else chosen(*inputs)


class RandomOrder:
    """Apply all transforms in random order."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for transform in random.sample(list(self.transforms), len(self.transforms)):
            img = transformed(transform, img)
        return img


class ColorJitter:
    """Change brightness, contrast, saturation and hue of a PIL image, in random order."""

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        around_one = {
            ImageEnhance.Brightness: brightness,
            ImageEnhance.Contrast: contrast,
            ImageEnhance.Color: saturation,
        }
        self.changes = []
        for enhance, amount in around_one.items():
            if isinstance(amount, (tuple, list)):
                self.changes.append((enhance, amount))
            elif amount:
                self.changes.append((enhance, (max(0, 1 - amount), 1 + amount)))
        if hue:
            self.changes.append((None, hue if isinstance(hue, (tuple, list)) else (-hue, hue)))

    def __call__(self, img):
        for enhance, span in random.sample(self.changes, len(self.changes)):
            amount = random.uniform(*span)
            img = vision.AdjustHue(amount)(img) if enhance is None else enhance(img).enhance(amount)
        return img


class PILToTensor:
    """A PIL image as a CHW Tensor of its own type, without scaling."""

    def __call__(self, pic):
        array = np.array(pic)
        return Tensor(array[None] if array.ndim == 2 else array.transpose(2, 0, 1).copy())


class ToImage:
    """PIL images stay PIL images, which is what mindspore.dataset.vision takes."""

    def __call__(self, image):
        return image if isinstance(image, Image.Image) else Image.fromarray(np.asarray(image))


class ToDtype:
    """An image as a CHW Tensor of another type; with scale, 0 to 255 becomes 0 to 1."""

    def __init__(self, dtype, scale=False):
        self.dtype = np.dtype(str(dtype).rpartition(".")[2].lower())
        self.scale = scale

    def __call__(self, image):
        array = as_array_of(PILToTensor()(image) if isinstance(image, Image.Image) else image)
        if not self.scale or array.dtype.kind == self.dtype.kind:
            return Tensor(array.astype(self.dtype))
        if self.dtype.kind == "f":
            return Tensor((array / np.iinfo(array.dtype).max).astype(self.dtype))
        most = np.iinfo(self.dtype).max
        return Tensor((array * (most + 1 - 1e-3)).astype(self.dtype))


class ConvertImageDtype(ToDtype):
    """ToDtype that always scales."""

    def __init__(self, dtype="float32"):
        super().__init__(dtype, scale=True)


class ToPILImage:
    """A CHW Tensor, CHW float array or HWC uint8 array as a PIL image."""

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        array = pic.asnumpy() if isinstance(pic, Tensor) else np.asarray(pic)
        if array.ndim == 3 and (isinstance(pic, Tensor) or array.dtype.kind == "f"):
            array = array.transpose(1, 2, 0)
        if array.dtype.kind == "f":
            array = (array * 255).astype(np.uint8)
        return Image.fromarray(array[:, :, 0] if array.shape[2:] == (1,) else array, self.mode)


class RandomInvert:
    """Invert the colours with probability p."""

    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        return ImageOps.invert(img) if random.random() < self.p else img


class RandomPosterize:
    """Keep the given number of bits with probability p."""

    def __init__(self, bits, p=0.5):
        self.bits, self.p = bits, p

    def __call__(self, img):
        return ImageOps.posterize(img, self.bits) if random.random() < self.p else img


class RandomSolarize:
    """Invert the values from the threshold on, with probability p."""

    def __init__(self, threshold, p=0.5):
        self.threshold, self.p = threshold, p

    def __call__(self, img):
        return ImageOps.solarize(img, self.threshold) if random.random() < self.p else img


class RandomAutocontrast:
    """Stretch the values to the full range with probability p."""

    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        return ImageOps.autocontrast(img) if random.random() < self.p else img


class RandomEqualize:
    """Equalize the histogram with probability p."""

    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        return ImageOps.equalize(img) if random.random() < self.p else img


class RandomAdjustSharpness:
    """Change the sharpness with probability p."""

    def __init__(self, sharpness_factor, p=0.5):
        self.sharpness_factor, self.p = sharpness_factor, p

    def __call__(self, img):
        if random.random() >= self.p:
            return img
        return ImageEnhance.Sharpness(img).enhance(self.sharpness_factor)


def gaussian_blur(img, kernel_size, sigma=None):
    """Blur a PIL image, up to two grey levels off; sigma may follow from the kernel size."""
    sizes = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
    if sigma is None:
        sigma = [0.3 * ((size - 1) * 0.5 - 1) + 0.8 for size in sizes]
    spread = [float(sigma)] * 2 if isinstance(sigma, (int, float)) else [float(s) for s in sigma]
    # One number stands for both axes.
    spread = (spread * 2)[:2]
    return Image.fromarray(vision.GaussianBlur(sizes, spread)(img))


class GaussianBlur:
    """Blur with a sigma drawn anew for each image, the same for both axes."""

    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        self.kernel_size = kernel_size
        self.sigma = (sigma, sigma) if isinstance(sigma, (int, float)) else sigma

    def __call__(self, img):
        return gaussian_blur(img, self.kernel_size, random.uniform(*self.sigma))
