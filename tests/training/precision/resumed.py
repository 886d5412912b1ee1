"""Trains, saves everything, and goes on from what it or torch has saved."""

import sys

import numpy as np
import torch
from torch import nn
from torch.optim import lr_scheduler


def build():
    # No bias before a batch norm: its gradient is noise, which Adam scales up.
    convolution = nn.Conv2d(3, 4, 3, bias=False)
    model = nn.Sequential(convolution, nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(144, 5))
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.from_numpy(0.2 * rng.standard_normal(tuple(p.shape)).astype("float32")))
    adam = torch.optim.Adam(model[0].parameters(), lr=0.01)
    sgd = torch.optim.SGD([*model[1].parameters(), *model[3].parameters()], lr=0.1, momentum=0.9)
    warm = lr_scheduler.LambdaLR(sgd, lambda epoch: (epoch + 1) / 3)
    cosine = lr_scheduler.CosineAnnealingLR(sgd, T_max=6)
    schedule = lr_scheduler.SequentialLR(sgd, [warm, cosine], milestones=[2])
    plateau = lr_scheduler.ReduceLROnPlateau(adam, patience=3)  # half of it is over at the half
    return model, adam, sgd, schedule, plateau


def main(folder, start, end, source, target):
    model, adam, sgd, schedule, plateau = build()
    best = 0.0
    if source != "-":
        state = torch.load(f"{folder}/{source}")
        start, best = state["epoch"], state["best"]
        model.load_state_dict(state["model"])
        adam.load_state_dict(state["adam"])
        sgd.load_state_dict(state["sgd"])
        schedule.load_state_dict(state["schedule"])
        plateau.load_state_dict(state["plateau"])
    losses = []
    model.train()
    for epoch in range(start, end):
        rng = np.random.default_rng(epoch)
        x = torch.from_numpy(rng.standard_normal((4, 3, 8, 8)).astype("float32"))
        y = torch.from_numpy(rng.integers(0, 5, 4))
        loss = nn.functional.cross_entropy(model(x), y)
        adam.zero_grad()
        sgd.zero_grad()
        loss.backward()
        adam.step()
        sgd.step()
        schedule.step()
        plateau.step(1.0)
        losses.append(loss.item())
        best = max(best, losses[-1])
    torch.save(
        {
            "epoch": end,
            "best": best,
            "model": model.state_dict(),
            "adam": adam.state_dict(),
            "sgd": sgd.state_dict(),
            "schedule": schedule.state_dict(),
            "plateau": plateau.state_dict(),
        },
        f"{folder}/{target}",
    )
    np.savez(f"{folder}/{target}.npz", losses=losses)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5])
