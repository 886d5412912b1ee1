"""SyncBatchNorm by conversion, buffers that are not broadcast, evaluation on every rank."""

import sys

import numpy as np
import torch
import torch.distributed as dist
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 8)
        self.bn = nn.BatchNorm1d(8)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.bn(self.fc1(x))))


def main(out, rank=0, size=1):
    if size > 1:
        dist.init_process_group("gloo")
        rank = dist.get_rank()
    net = Net()
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype("float32")))
    model = net
    if size > 1:
        net = nn.SyncBatchNorm.convert_sync_batchnorm(net)
        model = nn.parallel.DistributedDataParallel(net, broadcast_buffers=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    model.train()
    for _ in range(3):
        x = torch.from_numpy(rng.standard_normal((8, 6)).astype("float32"))
        y = torch.from_numpy(rng.integers(0, 3, 8))
        share = 8 // size
        x, y = x[rank * share : (rank + 1) * share], y[rank * share : (rank + 1) * share]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        losses.append(model(torch.ones(1, 6)).sum().item())
    weights = [p.detach().numpy() for p in model.parameters()]
    weights += [net.bn.running_mean.numpy(), net.bn.running_var.numpy()]
    np.savez(f"{out}/rank{rank}.npz", *weights, losses=losses)
    if size > 1:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], size=int(sys.argv[2]))
