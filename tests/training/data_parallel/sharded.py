"""A step of plain SGD at rate 1 on this rank's shard: weights move by the averaged gradients."""

import sys

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

SAMPLES = 24


class Numbered(Dataset):
    """Samples that know their number."""

    def __init__(self):
        rng = np.random.default_rng(5)
        self.x = rng.standard_normal((SAMPLES, 6)).astype("float32")
        self.y = rng.integers(0, 3, SAMPLES)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return self.x[index], int(self.y[index]), index


def main(folder):
    dist.init_process_group(backend="gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype("float32")))
    before = [p.detach().numpy().copy() for p in model.parameters()]
    bare = model
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    dataset = Numbered()

    loader = DataLoader(dataset, batch_size=4, sampler=DistributedSampler(dataset, shuffle=False))
    for x, y, _ in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        break
    moved = [b - p.detach().numpy() for b, p in zip(before, bare.parameters(), strict=True)]

    sampler = DistributedSampler(dataset, shuffle=True, seed=3)
    shuffled = DataLoader(dataset, batch_size=5, sampler=sampler)
    seen = []
    for epoch in range(2):
        sampler.set_epoch(epoch)
        seen.append([int(number) for _, _, numbers in shuffled for number in numbers])
    total = torch.tensor([loss.item()])
    dist.all_reduce(total)
    np.savez(
        f"{folder}/rank{rank}.npz",
        *moved,
        losses=[loss.item()],
        mean=total.item() / size,
        first=seen[0],
        second=seen[1],
    )
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
