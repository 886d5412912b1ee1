"""Mixed precision in two processes, with an accelerator, a trainer and callbacks in other files."""

import sys

import numpy as np
import torch
import torch.distributed as dist
from fabric import Fabric
from loop import Average, Rates, Trainer
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, 8, 3, stride=2, padding=1, bias=False),
            nn.GroupNorm(2, 8),
            nn.Hardswish(),
        )
        self.head = nn.Linear(8 * 9, 3, bias=False)

    def forward(self, x):
        return self.head(torch.flatten(self.features(x), 1))


class Task:
    def __init__(self, model):
        self.model = model

    def configure_optimizers(self):
        decay = [p for p in self.model.parameters() if p.dim() > 1]
        rest = [p for p in self.model.parameters() if p.dim() <= 1]
        groups = [{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}]
        optimizer = torch.optim.AdamW(groups, lr=0.01, eps=1e-3)
        return optimizer, torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)

    def training_step(self, model, batch):
        x, y = batch
        return F.cross_entropy(model(x), y, label_smoothing=0.1)


def main(out):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    rng = np.random.default_rng(rank)
    model = Net()
    weights = model.state_dict()
    for name, value in list(weights.items()):
        if value.dim() > 1:
            drawn = rng.standard_normal(tuple(value.shape)) * 0.3
            weights[name] = torch.from_numpy(drawn.astype("float32"))
    model.load_state_dict(weights)
    batches = [
        (
            torch.from_numpy(rng.standard_normal((4, 3, 6, 6)).astype("float32")),
            torch.from_numpy(rng.integers(0, 3, 4)),
        )
        for _ in range(4)
    ]
    average, rates = Average(), Rates()
    trainer = Trainer(Fabric("16-mixed"), 2, 1.0, [average, rates])
    losses = trainer.fit(Task(model), batches, 2)
    states = [trainer.bare.state_dict(), average.shadow]
    arrays = [v.numpy() for state in states for k, v in state.items() if "running" not in k]
    # Running statistics are those of each rank's own last batch.
    running = [v.numpy() for state in states for k, v in state.items() if "running" in k]
    np.savez(f"{out}/rank{rank}.npz", *arrays, losses=losses, rates=rates.seen, running=running)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
