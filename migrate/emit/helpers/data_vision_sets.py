"""torchvision.datasets as map-style datasets: the same files, the same order, PIL images."""

import gzip
import os
import pickle
from pathlib import Path

import numpy as np
from PIL import Image

from migrate.emit.helpers.data_sets import Dataset
from migrate.emit.helpers.data_transforms import as_tensor

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


class VisionDataset(Dataset):
    """Base of image datasets: applies the transforms to image and target."""

    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        self.root = root
        self.transforms = transforms
        self.transform = transform
        self.target_transform = target_transform

    def transformed(self, image, target):
        if self.transforms is not None:
            return self.transforms(image, target)
        if self.transform is not None:
            image = as_tensor(self.transform(image))
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target


def _present(path):
    """Files are not downloaded: say which one is missing."""
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing; download the dataset first")
    return path


class CIFAR10(VisionDataset):
    """The python version of CIFAR-10: root/cifar-10-batches-py."""

    folder = "cifar-10-batches-py"
    train_files = tuple(f"data_batch_{number}" for number in range(1, 6))
    test_files = ("test_batch",)
    label_key = "labels"
    meta_file, meta_key = "batches.meta", "label_names"

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        images, self.targets = [], []
        for name in self.train_files if train else self.test_files:
            entry = self._unpickled(name)
            images.append(entry["data"])
            self.targets.extend(entry[self.label_key])
        self.data = np.concatenate(images).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self.classes = self._unpickled(self.meta_file)[self.meta_key]
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}

    def _unpickled(self, name):
        with _present(Path(self.root) / self.folder / name).open("rb") as stream:
            return pickle.load(stream, encoding="latin1")

    def __getitem__(self, index):
        return self.transformed(Image.fromarray(self.data[index]), self.targets[index])

    def __len__(self):
        return len(self.data)


class CIFAR100(CIFAR10):
    """The python version of CIFAR-100: root/cifar-100-python."""

    folder = "cifar-100-python"
    train_files, test_files = ("train",), ("test",)
    label_key = "fine_labels"
    meta_file, meta_key = "meta", "fine_label_names"


class MNIST(VisionDataset):
    """The four idx files, packed or not: root/MNIST/raw."""

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        kind = "train" if train else "t10k"
        self.data = self._read(f"{kind}-images-idx3-ubyte", 16).reshape(-1, 28, 28)
        self.targets = self._read(f"{kind}-labels-idx1-ubyte", 8).astype(np.int64)

    @property
    def raw_folder(self):
        return str(Path(self.root) / type(self).__name__ / "raw")

    def _read(self, name, header):
        folder = Path(self.raw_folder)
        if (folder / name).exists():
            content = (folder / name).read_bytes()
        else:
            content = gzip.decompress(_present(folder / f"{name}.gz").read_bytes())
        return np.frombuffer(content, np.uint8, offset=header)

    def __getitem__(self, index):
        return self.transformed(Image.fromarray(self.data[index]), int(self.targets[index]))

    def __len__(self):
        return len(self.data)


class FashionMNIST(MNIST):
    """MNIST's files in root/FashionMNIST/raw."""


class KMNIST(MNIST):
    """MNIST's files in root/KMNIST/raw."""


def default_loader(path):
    """An image file as an RGB PIL image."""
    with Image.open(path) as image:
        return image.convert("RGB")


class DatasetFolder(VisionDataset):
    """One folder a class; classes and files in alphabetical order."""

    def __init__(
        self,
        root,
        loader,
        extensions=None,
        transform=None,
        target_transform=None,
        is_valid_file=None,
        allow_empty=False,
    ):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.loader = loader
        self.classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        self.samples = []
        for name in self.classes:
            found = 0
            for folder, _, files in sorted(os.walk(Path(root) / name, followlinks=True)):
                for path in (os.path.join(folder, file) for file in sorted(files)):
                    fits = is_valid_file(path) if is_valid_file else _ends_with(path, extensions)
                    if fits:
                        self.samples.append((path, self.class_to_idx[name]))
                        found += 1
            if not found and not allow_empty:
                raise FileNotFoundError(f"no valid file in class {name}")
        self.targets = [target for _, target in self.samples]

    def __getitem__(self, index):
        path, target = self.samples[index]
        return self.transformed(self.loader(path), target)

    def __len__(self):
        return len(self.samples)


def _ends_with(path, extensions):
    return path.lower().endswith(tuple(extensions))


class ImageFolder(DatasetFolder):
    """DatasetFolder of image files."""

    def __init__(
        self,
        root,
        transform=None,
        target_transform=None,
        loader=default_loader,
        is_valid_file=None,
        allow_empty=False,
    ):
        super().__init__(
            root,
            loader,
            IMG_EXTENSIONS,
            transform=transform,
            target_transform=target_transform,
            is_valid_file=is_valid_file,
            allow_empty=allow_empty,
        )
        self.imgs = self.samples


class FakeData(VisionDataset):
    """Random images and labels, the same for the same index."""

    def __init__(
        self,
        size=1000,
        image_size=(3, 224, 224),
        num_classes=10,
        transform=None,
        target_transform=None,
        random_offset=0,
    ):
        super().__init__(transform=transform, target_transform=target_transform)
        self.size, self.image_size, self.num_classes = size, image_size, num_classes
        self.random_offset = random_offset

    def __getitem__(self, index):
        if index >= self.size:
            raise IndexError(f"index {index} of {self.size}")
        draw = np.random.default_rng(index + self.random_offset)
        # As in torchvision: normal numbers, scaled by 255 and wrapped to a byte.
        image = (draw.standard_normal(self.image_size) * 255).astype(np.int64).astype(np.uint8)
        target = int(draw.integers(0, self.num_classes))
        return self.transformed(Image.fromarray(image.transpose(1, 2, 0).squeeze()), target)

    def __len__(self):
        return self.size
