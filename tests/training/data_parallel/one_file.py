"""One script: names by attribute, and every rank starts from weights of its own."""

import sys

import numpy as np
import torch
import torch.distributed
from torch import nn


def make_model(rank):
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    rng = np.random.default_rng(10 + rank)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype("float32")))
    return model


def main(out):
    torch.distributed.init_process_group(backend="gloo")
    rank = torch.distributed.get_rank()
    model = nn.parallel.DistributedDataParallel(make_model(rank))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    rng = np.random.default_rng(rank)
    losses = []
    for _ in range(4):
        x = torch.from_numpy(rng.standard_normal((4, 6)).astype("float32"))
        y = torch.from_numpy(rng.integers(0, 3, 4))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    weights = [p.detach().numpy() for p in model.parameters()]
    np.savez(f"{out}/rank{rank}.npz", *weights, losses=losses)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
