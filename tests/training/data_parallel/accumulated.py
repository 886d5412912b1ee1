"""Gradients add up over two batches; the first is not synchronised, nor are the running statistics
behind it.
"""

import sys
from contextlib import nullcontext

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main(out):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    net = nn.Sequential(nn.Linear(6, 8, bias=False), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))
    rng = np.random.default_rng(rank)
    for p in net.parameters():
        p.data = torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype("float32"))
    model = DistributedDataParallel(net)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    steps = 2
    losses = []
    optimizer.zero_grad()
    for i in range(6):
        x = torch.from_numpy(rng.standard_normal((4, 6)).astype("float32"))
        y = torch.from_numpy(rng.integers(0, 3, 4))
        update = (i + 1) % steps == 0
        with nullcontext() if update else model.no_sync():
            loss = nn.functional.cross_entropy(model(x), y) / steps
            loss.backward()
        if update:
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
    weights = [p.detach().numpy() for p in model.parameters()]
    means = net[1].running_mean.numpy()
    np.savez(f"{out}/rank{rank}.npz", *weights, losses=losses, means=means)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
