"""Folders of images as batches."""

from pathlib import Path

from torch.utils.data import DataLoader, DistributedSampler
from torchvision import transforms as T
from torchvision.datasets import ImageFolder

from .distributed import Processes

MEAN, STD = (0.5, 0.5, 0.5), (0.25, 0.25, 0.25)


def build_loaders(folder: Path, size: int, batch_size: int, processes: Processes, shuffle: bool):
    training = T.Compose(
        [
            T.Resize((size, size)),
            T.RandomHorizontalFlip(),
            T.ToTensor(),
            T.Normalize(MEAN, STD),
        ]
    )
    evaluation = T.Compose([T.Resize((size, size)), T.ToTensor(), T.Normalize(MEAN, STD)])
    loaders = []
    for part, transform, shuffled in (("train", training, shuffle), ("val", evaluation, False)):
        dataset = ImageFolder(str(folder / part), transform=transform)
        sampler = None
        if processes.size > 1:
            sampler = DistributedSampler(
                dataset, num_replicas=processes.size, rank=processes.rank, shuffle=shuffled
            )
        loaders.append(
            DataLoader(
                dataset,
                batch_size=batch_size,
                shuffle=shuffled and sampler is None,
                sampler=sampler,
                num_workers=0,
                drop_last=part == "train",
            )
        )
    return loaders
