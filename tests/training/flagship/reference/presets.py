"""What is done to images on their way to the network."""

import torch
from torchvision.transforms import autoaugment, transforms
from torchvision.transforms.functional import InterpolationMode

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def finished(mean=MEAN, std=STD):
    return [
        transforms.PILToTensor(),
        transforms.ConvertImageDtype(torch.float),
        transforms.Normalize(mean=mean, std=std),
    ]


class Training:
    def __init__(
        self,
        *,
        crop_size,
        interpolation=InterpolationMode.BILINEAR,
        flip=0.5,
        policy=None,
        magnitude=9,
        erase=0.0,
    ):
        steps = [
            transforms.RandomResizedCrop(
                crop_size, scale=(1.0, 1.0), ratio=(1.0, 1.0), interpolation=interpolation
            )
        ]
        if flip > 0:
            steps.append(transforms.RandomHorizontalFlip(flip))
        if policy == "ra":
            steps.append(
                autoaugment.RandAugment(interpolation=interpolation, magnitude=magnitude)
            )
        elif policy == "ta_wide":
            steps.append(autoaugment.TrivialAugmentWide(interpolation=interpolation))
        elif policy is not None:
            chosen = autoaugment.AutoAugmentPolicy(policy)
            steps.append(autoaugment.AutoAugment(policy=chosen, interpolation=interpolation))
        steps.extend(finished())
        if erase > 0:
            steps.append(transforms.RandomErasing(p=erase))
        self.transforms = transforms.Compose(steps)

    def __call__(self, img):
        return self.transforms(img)


class Evaluation:
    def __init__(
        self, *, crop_size, resize_size=256, interpolation=InterpolationMode.BILINEAR
    ):
        steps = [transforms.Resize(resize_size, interpolation=interpolation)]
        steps += [transforms.CenterCrop(crop_size), *finished()]
        self.transforms = transforms.Compose(steps)

    def __call__(self, img):
        return self.transforms(img)
