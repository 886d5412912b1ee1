"""Steps from a file to a tensor; each takes a dictionary and gives it on."""

import numpy as np
import torch
from PIL import Image

from .builder import PIPELINES


class Compose:
    def __init__(self, transforms):
        self.transforms = [PIPELINES.build(t) for t in transforms]

    def __call__(self, data):
        for t in self.transforms:
            data = t(data)
            if data is None:
                return None
        return data


@PIPELINES.register_module()
class LoadImage:
    def __call__(self, results):
        results["img"] = np.array(Image.open(results["filename"]).convert("RGB"))
        return results


@PIPELINES.register_module()
class Resize:
    def __init__(self, size):
        self.size = (size, size) if isinstance(size, int) else tuple(size)

    def __call__(self, results):
        image = Image.fromarray(results["img"]).resize(self.size[::-1], Image.BILINEAR)
        results["img"] = np.asarray(image)
        return results


@PIPELINES.register_module()
class RandomFlip:
    def __init__(self, prob=0.5):
        self.prob = prob

    def __call__(self, results):
        if np.random.rand() < self.prob:
            results["img"] = results["img"][:, ::-1]
        return results


@PIPELINES.register_module()
class Normalize:
    def __init__(self, mean, std):
        self.mean = np.array(mean, dtype=np.float32)
        self.std = np.array(std, dtype=np.float32)

    def __call__(self, results):
        results["img"] = (results["img"].astype(np.float32) - self.mean) / self.std
        return results


@PIPELINES.register_module()
class ToTensor:
    def __call__(self, results):
        img = np.ascontiguousarray(results["img"].transpose(2, 0, 1))
        return {
            "img": torch.from_numpy(img),
            "gt_label": torch.tensor(results["gt_label"], dtype=torch.long),
        }
