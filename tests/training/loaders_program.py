"""Loads images in the ways that `port --data native` knows, and says what came."""

import json
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
from torchvision import datasets, transforms

ROOT = sys.argv[1]
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def summary(batches):
    """Shapes, labels and moments of each batch."""
    found = []
    for x, y in batches:
        kinds = [str(one.dtype).rpartition(".")[2].lower() for one in (x, y)]
        moments = [round(float(x.float().mean()), 3), round(float(x.float().std()), 3)]
        found.append([list(x.shape), kinds, y.tolist(), moments])
    return found


def build(train):
    """What the loader reads is known only when it runs."""
    steps = [transforms.Pad(2)] if train else [transforms.Resize(40)]
    return datasets.CIFAR10(ROOT, transform=transforms.Compose([*steps, transforms.ToTensor()]))


def main():
    torch.manual_seed(1)
    out = {}
    normalize = transforms.Normalize(MEAN, STD)
    middle = transforms.Compose(
        [transforms.Resize(100), transforms.CenterCrop(81), transforms.ToTensor(), normalize]
    )
    folder = datasets.ImageFolder(f"{ROOT}/folder", middle)
    loader = DataLoader(folder, batch_size=7, num_workers=2)
    out["pil"] = [len(loader), len(loader.dataset), folder.classes, summary(loader)]

    steps = [transforms.RandomCrop(32), transforms.RandomHorizontalFlip(), transforms.ToTensor()]
    cut = transforms.Compose(
        [transforms.RandomCrop(32), transforms.RandomHorizontalFlip(), transforms.ToTensor()]
    )
    train = datasets.ImageFolder(f"{ROOT}/folder", transform=cut)
    sampler = DistributedSampler(train, num_replicas=2, rank=1, shuffle=False)
    shard = DataLoader(train, batch_size=4, sampler=sampler, num_workers=1, drop_last=True)
    first, again = summary(shard), summary(shard)
    out["shard"] = [len(shard), [batch[:3] for batch in first], first != again]
    orders = DistributedSampler(train, num_replicas=2, rank=0, shuffle=True)
    moved = DataLoader(train, batch_size=27, sampler=orders)
    labels = []
    for epoch in (0, 1, 0):
        orders.set_epoch(epoch)
        labels.append(summary(moved)[0][2])
    out["epochs"] = [labels[0] == labels[2], labels[0] != labels[1], len(labels[0])]
    mixing = DataLoader(train, 8, shuffle=True)
    a, b = ([batch[2] for batch in summary(mixing)] for _ in range(2))
    out["shuffled"] = [sorted(map(len, a)) == sorted(map(len, b)), a != b, len(mixing)]

    turned = transforms.Compose(
        [
            transforms.RandomVerticalFlip(1.0),
            transforms.RandomHorizontalFlip(p=1.0),
            transforms.Pad(4),
            transforms.ToTensor(),
        ]
    )
    out["arrays"] = summary(DataLoader(datasets.CIFAR10(ROOT, transform=turned), batch_size=20))
    digits = datasets.MNIST(ROOT, train=False, transform=transforms.ToTensor())
    out["digits"] = summary(DataLoader(digits, batch_size=6))

    options = {"batch_size": 16, "num_workers": 2}
    out["run time"] = [summary(DataLoader(build(part), **options)) for part in (True, False)]
    whole = datasets.ImageFolder(f"{ROOT}/folder", transform=transforms.Compose(steps))
    later = DataLoader(whole, **options)
    out["changed later"] = [batch[:3] for batch in summary(later)]
    whole.transform = transforms.Compose([transforms.Resize((50, 60)), transforms.ToTensor()])
    out["changed later"].append(summary(later))
    whole.samples = whole.samples[::-1]
    out["turned"] = summary(DataLoader(whole, **options))
    out["sample"] = list(whole[3][0].shape)
    tensors = DataLoader(TensorDataset(torch.arange(10.0), torch.arange(10)), 4, num_workers=2)
    out["beside workers"] = [summary(tensors), summary(tensors), summary(loader)[0][2]]
    print("RESULT " + json.dumps(out))


if __name__ == "__main__":
    main()
