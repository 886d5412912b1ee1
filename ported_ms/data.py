"""Image classification data: an ImageNet-style folder, CIFAR-10 binary files, or synthetic images.

torchvision is imported where images are transformed, so that synthetic runs do without it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import mindspore
from mindspore import Tensor
from mindspore.dataset import vision
import ms_migrate_helpers as helpers
from PIL import Image

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
CIFAR10_MEAN = (0.4914, 0.4822, 0.4465)
CIFAR10_STD = (0.2470, 0.2435, 0.2616)

# One record of a CIFAR-10 binary file: the label, then 32x32 red, green and blue planes.
CIFAR10_SHAPE = (3, 32, 32)
CIFAR10_RECORD = 1 + 3 * 32 * 32


class SyntheticImages(helpers.Dataset):
    """Noise around one fixed pattern per class: learnable, so a falling loss means something.

    Drawn by numpy from the seed and the index alone: any worker, any order and any framework
    sees the same sample under the same index.
    """

    def __init__(self, length: int, size: int, num_classes: int, seed: int = 0) -> None:
        self.length = length
        self.size = size
        self.num_classes = num_classes
        self.seed = seed

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        if not 0 <= index < self.length:
            raise IndexError(index)
        label = index % self.num_classes
        shape = (3, self.size, self.size)
        pattern = np.random.default_rng([self.seed, 1, label]).standard_normal(shape)
        noise = np.random.default_rng([self.seed, 2, index]).standard_normal(shape)
        image = (0.5 * pattern + 0.5 * noise).astype(np.float32)
        return Tensor.from_numpy(image), label


class Cifar10Binary(helpers.Dataset):
    """CIFAR-10 in its binary version: `data_batch_1.bin` to `_5.bin` and `test_batch.bin`."""

    def __init__(
        self, root: str | Path, train: bool = True, transform: Callable[[Any], Any] | None = None
    ) -> None:
        files = sorted(Path(root).glob("data_batch_*.bin" if train else "test_batch.bin"))
        if not files:
            raise FileNotFoundError(f"no {'data' if train else 'test'}_batch files in {root}")
        records = np.concatenate([self._read(path) for path in files])
        self.labels = records[:, 0].astype(np.int64)
        # Planes to pixels: image libraries want the channels last.
        planes = records[:, 1:].reshape(-1, *CIFAR10_SHAPE)
        self.images = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
        self.transform = transform

    @staticmethod
    def _read(path: Path) -> np.ndarray:
        raw = np.fromfile(path, dtype=np.uint8)
        if raw.size == 0 or raw.size % CIFAR10_RECORD:
            raise ValueError(f"{path}: {raw.size} bytes are not records of {CIFAR10_RECORD} bytes")
        return raw.reshape(-1, CIFAR10_RECORD)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        image = self.images[index]
        if self.transform is not None:
            image = self.transform(image)
        return image, int(self.labels[index])


def cifar10_transform(augment: bool) -> Callable[[Any], Tensor]:
    """Normalise; when training, also shift by up to four pixels and mirror."""

    steps: list[Callable[[Any], Any]] = [helpers.ToPILImage()]
    if augment:
        steps += [vision.RandomCrop(32, padding=4), vision.RandomHorizontalFlip()]
    steps += [vision.ToTensor(), vision.Normalize(CIFAR10_MEAN, CIFAR10_STD, is_hwc=False)]
    return helpers.Compose(steps)


def imagenet_transform(augment: bool) -> Callable[[Any], Tensor]:
    """Normalise a 224x224 crop: a random one of random size when training, else the centre."""

    if augment:
        crop = [vision.RandomResizedCrop(224), vision.RandomHorizontalFlip()]
    else:
        crop = [vision.Resize(256), vision.CenterCrop(224)]
    normalize = vision.Normalize(mean=IMAGENET_MEAN, std=IMAGENET_STD, is_hwc=False)
    return helpers.Compose([*crop, vision.ToTensor(), normalize])


def imagenet_image(path: str | Path) -> Tensor:
    """One image file as evaluation sees it."""
    with Image.open(path) as image:
        return imagenet_transform(augment=False)(image.convert("RGB"))


def imagenet(root: str | Path, train: bool, augment: bool) -> helpers.Dataset:
    """One folder per class under `train` and `val`."""

    folder = Path(root) / ("train" if train else "val")
    return helpers.ImageFolder(str(folder), transform=imagenet_transform(augment))


def build_dataset(args: argparse.Namespace, train: bool) -> helpers.Dataset:
    augment = train and args.augment
    if args.data == "imagenet":
        return imagenet(args.data_dir, train, augment)
    if args.data == "cifar10":
        return Cifar10Binary(args.data_dir, train, cifar10_transform(augment))
    # Both splits share the patterns, and the test images come after the training images.
    images = SyntheticImages(2 * args.samples, args.image_size, args.num_classes, args.seed)
    return helpers.Subset(
        images, range(args.samples) if train else range(args.samples, 2 * args.samples)
    )


def build_loader(
    args: argparse.Namespace, train: bool, rank: int = 0, world_size: int = 1
) -> helpers.DataLoader:
    """The batches of one process: whole shuffled batches to train on, every sample once to test."""
    dataset = build_dataset(args, train)
    sampler: helpers.DistributedSampler | None = None
    if world_size > 1 and train:
        sampler = helpers.DistributedSampler(
            dataset, num_replicas=world_size, rank=rank, shuffle=args.shuffle, seed=args.seed
        )
    elif world_size > 1:
        # DistributedSampler repeats samples to even out the shards, which would bend the accuracy.
        dataset = helpers.Subset(dataset, range(rank, len(dataset), world_size))
    return helpers.DataLoader(
        dataset,
        batch_size=args.batch_size,
        shuffle=train and args.shuffle and sampler is None,
        sampler=sampler,
        num_workers=args.workers,
        pin_memory=mindspore.get_context("device_target") != "CPU",
        drop_last=train,
        persistent_workers=args.workers > 0,
    )


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    flag = argparse.BooleanOptionalAction
    parser.add_argument("--data", choices=["imagenet", "cifar10", "synthetic"], default="synthetic")
    parser.add_argument("--data-dir", default="data", help="where the images or .bin files are")
    parser.add_argument("--num-classes", type=int, default=None, help="default: as the data has")
    parser.add_argument("--image-size", type=int, default=224, help="of synthetic images")
    parser.add_argument("--samples", type=int, default=512, help="synthetic images per split")
    parser.add_argument("--batch-size", type=int, default=256, help="images per process and step")
    parser.add_argument("--workers", type=int, default=0, help="loading processes")
    parser.add_argument("--shuffle", action=flag, default=True, help="mix the training images")
    parser.add_argument("--augment", action=flag, default=True, help="random crops and mirroring")
    parser.add_argument("--seed", type=int, default=42)


def default_num_classes(data: str) -> int:
    return 1000 if data == "imagenet" else 10
