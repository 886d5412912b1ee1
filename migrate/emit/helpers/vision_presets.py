"""How torchvision prepares inputs for its pretrained weights, on mindspore.dataset."""

import numpy as np
from mindspore import Tensor, ops
from mindspore.dataset import vision


def _resized(height, width, size):
    """torchvision's rule: one number is the length of the shorter side, two are (height, width)."""
    size = (size,) if isinstance(size, int) else tuple(size)
    if len(size) == 2:
        return size
    if width <= height:
        return int(size[0] * height / width), size[0]
    return size[0], int(size[0] * width / height)


def _scaled_to_one(image):
    """A PIL image or uint8 HWC array as a float32 CHW array between 0 and 1."""
    return vision.ToTensor()(image)


class ImageClassification:
    """Resize the shorter side, crop the centre, scale to [0, 1], normalise; takes a PIL image."""

    def __init__(
        self,
        *,
        crop_size,
        resize_size=256,
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
        interpolation=vision.Inter.BILINEAR,
        antialias=True,
    ):
        self.crop_size = crop_size
        self.resize_size = resize_size
        self.interpolation = interpolation
        self.normalize = vision.Normalize(list(mean), list(std), is_hwc=False)

    def __call__(self, img):
        size = _resized(img.height, img.width, self.resize_size)
        img = vision.Resize(size, interpolation=self.interpolation)(img)
        img = vision.CenterCrop(self.crop_size)(img)
        return Tensor(self.normalize(_scaled_to_one(img)))


class SemanticSegmentation:
    """Resize the shorter side, scale to [0, 1], normalise; takes a PIL image."""

    def __init__(
        self,
        *,
        resize_size,
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
        interpolation=vision.Inter.BILINEAR,
        antialias=True,
    ):
        self.resize_size = resize_size
        self.interpolation = interpolation
        self.normalize = vision.Normalize(list(mean), list(std), is_hwc=False)

    def __call__(self, img):
        if self.resize_size is not None:
            size = _resized(img.height, img.width, self.resize_size)
            img = vision.Resize(size, interpolation=self.interpolation)(img)
        return Tensor(self.normalize(_scaled_to_one(img)))


class ObjectDetection:
    """Scale a PIL image to a Tensor between 0 and 1; detectors normalise on their own."""

    def __call__(self, img):
        return Tensor(_scaled_to_one(img))


class OpticalFlow:
    """Scale a pair of PIL images to Tensors between -1 and 1."""

    def __call__(self, img1, img2):
        return Tensor(_scaled_to_one(img1) * 2 - 1), Tensor(_scaled_to_one(img2) * 2 - 1)


class VideoClassification:
    """Resize, crop, scale and normalise uint8 frames (..., T, C, H, W); gives (..., C, T, H, W)."""

    def __init__(
        self,
        *,
        crop_size,
        resize_size,
        mean=(0.43216, 0.394666, 0.37645),
        std=(0.22803, 0.22145, 0.216989),
        interpolation=vision.Inter.BILINEAR,
    ):
        if interpolation != vision.Inter.BILINEAR:
            raise NotImplementedError("only bilinear interpolation was ported")
        self.crop_size = tuple(crop_size)
        self.resize_size = resize_size
        self.mean = Tensor(np.array(mean, np.float32).reshape(1, 3, 1, 1))
        self.std = Tensor(np.array(std, np.float32).reshape(1, 3, 1, 1))

    def __call__(self, vid):
        lead, (height, width) = vid.shape[:-3], vid.shape[-2:]
        size = _resized(height, width, self.resize_size)
        frames = vid.reshape((-1, *vid.shape[-3:])).float()
        frames = ops.interpolate(frames, size=size, mode="bilinear", align_corners=False)
        crop_height, crop_width = self.crop_size
        top, left = round((size[0] - crop_height) / 2), round((size[1] - crop_width) / 2)
        frames = frames[:, :, top : top + crop_height, left : left + crop_width]
        # torchvision resizes uint8 frames, so it rounds here too.
        frames = (ops.round(frames) / 255 - self.mean) / self.std
        return frames.reshape((*lead, 3, crop_height, crop_width)).swapaxes(-4, -3)
