"""A DataLoader that reads through a pipeline of mindspore.dataset where that gives torch's batches;
decided when an epoch begins, on the dataset, transforms and sampler as they are then.
"""

import copy
import itertools
import os
from pathlib import Path

import mindspore
import mindspore.dataset as ds
from mindspore.dataset import transforms, vision

from migrate.emit.helpers.data_loader import DataLoader, default_collate
from migrate.emit.helpers.data_pipeline import EpochOrder, epoch_of, pipeline_threads
from migrate.emit.helpers.data_transforms import Compose, ToTensor
from migrate.emit.helpers.helper_origin import of_helpers, uses

# Operations whose C++ kernels give torchvision's pixels, and those that come close.
EQUAL = (vision.Pad, vision.RandomCrop, vision.RandomHorizontalFlip, vision.RandomVerticalFlip)
CLOSE = (vision.CenterCrop, vision.RandomResizedCrop, vision.Resize)
_ARRAYS = ("CIFAR10", "CIFAR100", "FashionMNIST", "KMNIST", "MNIST")


def pipeline_operations(transform, close=False):
    """A transform as C++ operations; None where they would not give its images."""
    steps = transform.transforms if type(transform) is Compose else [transform]
    kinds = [vision.ToTensor if type(step) is ToTensor else type(step) for step in steps]
    if kinds.count(vision.ToTensor) != 1:
        return None
    end = kinds.index(vision.ToTensor)
    allowed = EQUAL + CLOSE if close else EQUAL
    if any(kind not in allowed for kind in kinds[:end]):
        return None
    if any(kind is not vision.Normalize for kind in kinds[end + 1 :]):
        return None
    behind = [vision.ToTensor(), *map(copy.deepcopy, steps[end + 1 :])]
    return [*map(copy.deepcopy, steps[:end]), *behind]


def _as_listed(dataset):
    """Whether the samples of an ImageFolder are all files of its folders, in MindSpore's order."""
    files = ds.ImageFolderDataset(dataset.root, shuffle=False).get_dataset_size()
    if files != len(dataset.samples):
        return False
    places = [(label, os.path.split(path)) for path, label in dataset.samples]
    root = Path(dataset.root)
    folders = {str(root / name): label for name, label in dataset.class_to_idx.items()}
    in_order = all(one < other for one, other in itertools.pairwise(places))
    return in_order and all(folders.get(folder) == label for label, (folder, _) in places)


class NativeDataLoader(DataLoader):
    """Batches by C++ threads for datasets of images whose transform is known, else by workers.

    close: also with operations whose pixels differ from PIL's (Resize, RandomResizedCrop,
    CenterCrop).
    """

    def __init__(self, *args, close=False, **options):
        super().__init__(*args, **options)
        self.close = close
        self.ordered = self.batch_sampler is not None and options.get("batch_sampler") is None

    def __iter__(self):
        rows = self._rows()
        if rows is None:
            return super().__iter__()
        rows = rows.map(transforms.TypeCast(mindspore.int64), "label")
        rows = rows.batch(self.batch_size, drop_remainder=self.drop_last)
        own = uses("random streams of the program's own")
        return epoch_of(rows, self.drawn_from if own else None)

    def _rows(self):
        """Images and labels one by one; None where only the exact way gives the same."""
        dataset = self.dataset
        if not self.ordered or self.collate_fn is not default_collate or self.worker_init_fn:
            return None
        if not of_helpers(type(dataset)) or getattr(dataset, "transform", None) is None:
            return None
        if dataset.target_transform is not None or dataset.transforms is not None:
            return None
        steps = pipeline_operations(dataset.transform, self.close)
        name = type(dataset).__name__
        if steps is None or name not in (*_ARRAYS, "ImageFolder"):
            return None
        threads = pipeline_threads(self.num_workers)
        order = EpochOrder(dataset, self.sampler)
        if name in _ARRAYS:
            images = dataset.data if dataset.data.ndim == 4 else dataset.data[..., None]
            order.draw()
            given = (images, dataset.targets), ["image", "label"]
            rows = ds.NumpySlicesDataset(*given, sampler=order)
            return rows.map(steps, "image", num_parallel_workers=threads)
        if not _as_listed(dataset) or dataset.loader.__name__ != "default_loader":
            return None
        order.draw()
        rows = ds.ImageFolderDataset(dataset.root, sampler=order, num_parallel_workers=threads)
        return rows.map([vision.Decode(), *steps], "image", num_parallel_workers=threads)
