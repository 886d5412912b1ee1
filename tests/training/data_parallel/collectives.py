"""Gradients averaged by hand, and every collective that training programs use."""

import sys

import numpy as np
import torch
import torch.distributed as dist
from torch import nn


def average_gradients(model):
    size = float(dist.get_world_size())
    for param in model.parameters():
        dist.all_reduce(param.grad.data, op=dist.ReduceOp.SUM)
        param.grad.data /= size


def reduce_tensor(tensor, world_size):
    rt = tensor.clone()
    dist.all_reduce(rt, op=dist.ReduceOp.SUM)
    rt /= world_size
    return rt


@torch.no_grad()
def concat_all_gather(tensor):
    tensors_gather = [torch.ones_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(tensors_gather, tensor, async_op=False)
    return torch.cat(tensors_gather, dim=0)


def main(out):
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    model = nn.Linear(4, 2)
    rng = np.random.default_rng(rank)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype("float32")))
    for p in model.parameters():
        dist.broadcast(p.data, src=0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        x = torch.from_numpy(rng.standard_normal((4, 4)).astype("float32"))
        y = torch.from_numpy(rng.integers(0, 2, 4))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        average_gradients(model)
        optimizer.step()
        losses.append(reduce_tensor(loss.data, size).item())
    t = torch.tensor([1.0, 2.0]) * (rank + 1)
    gathered = concat_all_gather(t)
    dist.reduce(t, dst=0)
    reduced = t.tolist() if rank == 0 else [3.0, 6.0]
    top = torch.tensor(float(rank))
    dist.all_reduce(top, op=dist.ReduceOp.MAX)
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank, "name": f"r{rank}"})
    names = [objects[i]["name"] == f"r{i}" for i in range(size)]
    settings = [{"lr": 0.1 * (rank + 1)}, rank]
    dist.broadcast_object_list(settings, src=1)
    collected = [None] * size if rank == 0 else None
    dist.gather_object([rank] * (rank + 1), collected, dst=0)
    parts = len(collected[1]) if rank == 0 else 2
    weights = [p.detach().numpy() for p in model.parameters()]
    seen = [*gathered.tolist(), *reduced, top.item(), *names, settings[0]["lr"], settings[1], parts]
    np.savez(f"{out}/rank{rank}.npz", *weights, losses=np.array([*losses, *map(float, seen)]))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
