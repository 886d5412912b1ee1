"""Reads a folder of images for some epochs: the program that the bench of loaders ports."""

import json
import sys
import time

import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


def main(folder, workers, kind, rounds):
    torch.manual_seed(0)
    normalize = transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
    augmented = transforms.Compose(
        [
            transforms.RandomResizedCrop(224),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            normalize,
        ]
    )
    plain = transforms.Compose(
        [transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(), normalize]
    )
    train = datasets.ImageFolder(folder, augmented)
    valid = datasets.ImageFolder(folder, plain)
    keep = workers > 0
    if kind == "augmented":
        loader = DataLoader(
            train, batch_size=32, shuffle=True, num_workers=workers, persistent_workers=keep
        )
    else:
        loader = DataLoader(valid, batch_size=32, num_workers=workers, persistent_workers=keep)
    found = []
    for _ in range(rounds):
        started, used, count = time.perf_counter(), time.process_time(), 0
        for _, labels in loader:
            count += labels.size(0)
        seconds = time.perf_counter() - started
        found.append({"rate": count / seconds, "seconds": time.process_time() - used})
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
