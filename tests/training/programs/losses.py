"""Losses in a dict, from a helper function, of two towers, without a name; maybe no optimizer."""

# ruff: noqa - in the style of their authors

import torch
import torch.nn.functional as F
from shared import fill, toy
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, 16), nn.ReLU())
        self.cls = nn.Linear(16, 4)
        self.reg = nn.Linear(16, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.cls(h), self.reg(h).squeeze(-1)


def train_dict(model, loader, opt):
    for x, y in loader:
        logits, value = model(x)
        losses = {"cls": F.cross_entropy(logits, y), "reg": F.smooth_l1_loss(value, y.float())}
        total = sum(loss for loss in losses.values())
        opt.zero_grad()
        total.backward()
        opt.step()
        print({k: round(v.item(), 5) for k, v in losses.items()}, "%.6f" % total.item())


def train_towers(net, loader, optimizer):
    for x, y in loader:
        a, b = x[:4], x[4:]
        same = (y[:4] == y[4:]).float()
        optimizer.zero_grad()
        e1, e2 = net.trunk(a), net.trunk(b)
        distance = (F.normalize(e1) - F.normalize(e2)).pow(2).sum(1)
        loss = (same * distance + (1 - same) * torch.clamp(1.0 - distance, min=0.0)).mean()
        loss.backward()
        optimizer.step()
        print("%.6f" % loss.item())


def run_epoch(model, loader, optimizer=None):
    training = optimizer is not None
    total = 0.0
    with torch.set_grad_enabled(training):
        for batch in loader:
            loss, logits = compute(model, batch)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() + logits.abs().mean().item()
    return total


def compute(model, batch):
    x, y = batch
    logits, value = model(x)
    return F.cross_entropy(logits, y) + F.l1_loss(value, y.float()), logits


def train_unnamed(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        logits, value = model(x)
        (F.cross_entropy(logits, y) + 0.5 * F.mse_loss(value, y.float())).backward()
        optimizer.step()
        print("%.6f" % value.mean().item())


model = fill(MultiTask())
loader = DataLoader(TensorDataset(*toy(24)), batch_size=8)
train_dict(model, loader, torch.optim.SGD(model.parameters(), lr=0.05))
train_towers(model, loader, torch.optim.Adam(model.parameters(), lr=0.01))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
print("%.6f %.6f" % (run_epoch(model, loader, optimizer), run_epoch(model, loader)))
train_unnamed(model, loader, torch.optim.SGD(model.parameters(), lr=0.01))
