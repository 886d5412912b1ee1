"""Gradients summed over batches, cleared before the loop; a rate per batch; a resumed run."""

# ruff: noqa - in the style of their authors

import argparse

import torch
from shared import fill, toy
from torch import nn
from torch.cuda.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset


def train(args, epochs, checkpoint=None):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = fill(nn.Sequential(nn.Linear(12, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4)))
    model = model.to(device)
    loader = DataLoader(TensorDataset(*toy(40)), batch_size=8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.05)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=15)
    scaler = GradScaler(enabled=device == "cuda")
    start = 0
    if checkpoint is not None:
        state = torch.load(checkpoint, map_location=device, weights_only=False)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        start = state["epoch"]
        print("resumed", start, state["args"].every)
    model.train()
    optimizer.zero_grad()
    for epoch in range(start, epochs):
        for step, batch in enumerate(loader):
            inputs, targets = [t.to(device) for t in batch]
            with autocast(enabled=device == "cuda"):
                loss = nn.functional.cross_entropy(model(inputs), targets) / args.every
            scaler.scale(loss).backward()
            if (step + 1) % args.every == 0 or step + 1 == len(loader):
                scaler.unscale_(optimizer)
                norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
                print("norm %.6f" % norm.item())
            scheduler.step()
            print("%d %d %.6f %.6f" % (epoch, step, loss.item(), scheduler.get_last_lr()[0]))
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epochs}
    torch.save({**state, "scheduler": scheduler.state_dict(), "args": args}, args.output)


parser = argparse.ArgumentParser()
parser.add_argument("--every", type=int, default=2)
parser.add_argument("--output", default="accumulated.ckpt")
args = parser.parse_args([])
train(args, 2)
train(args, 3, args.output)
