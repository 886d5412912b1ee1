"""Gradients looked for at the parameters, meters that format tensors, a wrapped model, a context
kept in a variable, schedules asked for an epoch.
"""

# ruff: noqa - in the style of their authors

from contextlib import nullcontext

import torch
from shared import fill, toy
from torch import nn


class Meter(object):
    def __init__(self, name, fmt=":f"):
        self.name, self.fmt = name, fmt
        self.val, self.sum, self.count = 0, 0, 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n

    def __str__(self):
        return ("{name} {val" + self.fmt + "} {sum" + self.fmt + "}").format(**self.__dict__)


class Net(nn.Module):
    def __init__(self, copies=1):
        super().__init__()
        self.copies = copies
        self.main = nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 4))

    def forward(self, x):
        if x.is_cuda and self.copies > 1:
            return nn.parallel.data_parallel(self.main, x, range(self.copies))
        return self.main(x)


def gradient_norm(model):
    total = 0.0
    for p in model.parameters():
        if p.grad is not None:
            total += p.grad.data.norm(2).item() ** 2
    return total**0.5


x, y = toy()
criterion = nn.CrossEntropyLoss()
model = fill(Net())
losses = Meter("loss", ":.4f")
on_cpu = not torch.cuda.is_available()
ctx = nullcontext() if on_cpu else torch.autocast("cuda", dtype=torch.float16)

# An update written by hand.
lr = 0.2
for step in range(3):
    model.zero_grad()
    with ctx:
        loss = criterion(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-lr)
    losses.update(loss.detach(), x.size(0))
    print(losses, "%.5f" % gradient_norm(model))

# Gradients changed between backward() and step().
if not on_cpu:
    model = nn.DataParallel(model).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=(1, 3), gamma=0.5)
for epoch in range(4):
    scheduler.step(epoch)
    for p in model.parameters():
        p.grad = None
    loss = criterion(model(x), y)
    loss.backward()
    for name, p in model.named_parameters():
        if "bias" in name:
            p.grad.zero_()
        else:
            p.grad.data.clamp_(-0.05, 0.05)
    optimizer.step()
    print("%.5f %.5f %.4f" % (loss.item(), gradient_norm(model), scheduler.get_last_lr()[0]))


class Agent:
    """Runs backward() in one method and step() in another."""

    def __init__(self):
        self.net = fill(nn.Linear(12, 4))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=0.01)

    def learn(self, x, y):
        loss = criterion(self.net(x), y)
        loss.backward()
        return loss.item()

    def step(self):
        norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.opt.step()
        self.opt.zero_grad()
        return norm.item()


agent = Agent()
for _ in range(3):
    print("%.5f %.5f %.5f" % (agent.learn(x, y), agent.learn(x[:8], y[:8]), agent.step()))
