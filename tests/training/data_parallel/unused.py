"""A branch that only some ranks use, a wrapped model beside one that is not."""

import sys

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(6, 3)
        self.two = nn.Linear(6, 3)

    def forward(self, x, both: bool):
        y = self.one(x)
        if both:
            y = y + self.two(x)
        return y


def main(out):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    wrapped, alone = Branches(), nn.Linear(3, 3)
    rng = np.random.default_rng(rank)
    with torch.no_grad():
        for p in [*wrapped.parameters(), *alone.parameters()]:
            p.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype("float32")))
    model = DDP(wrapped, find_unused_parameters=True)
    optimizer = torch.optim.SGD(
        [{"params": model.parameters()}, {"params": alone.parameters(), "lr": 0.01}], lr=0.1
    )
    losses = []
    for i in range(4):
        x = torch.from_numpy(rng.standard_normal((4, 6)).astype("float32"))
        y = torch.from_numpy(rng.integers(0, 3, 4))
        logits = alone(model(x, (i + rank) % 2 == 0))
        loss = nn.functional.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    weights = [p.detach().numpy() for p in model.parameters()]
    own = [p.detach().numpy() for p in alone.parameters()]
    np.savez(f"{out}/rank{rank}.npz", *weights, losses=losses, own_weight=own[0], own_bias=own[1])
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
