"""Optimizers of the program's own, one model and optimizer for each fold, resuming their state."""

# ruff: noqa - in the style of their authors

import math

import torch
from shared import fill, toy
from torch import nn
from torch.nn import functional as F
from torch.optim.optimizer import Optimizer


class Averaged(Optimizer):
    """Moments in the state, the largest one kept, updates through .data."""

    def __init__(
        self, params, lr=1e-2, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.0, amsgrad=True
    ):
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad)
        super(Averaged, self).__init__(params, defaults)

    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad.data
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["mean"] = torch.zeros_like(p.data)
                    state["square"] = torch.zeros_like(p.data)
                    if group["amsgrad"]:
                        state["largest"] = torch.zeros_like(p.data)
                mean, square = state["mean"], state["square"]
                beta1, beta2 = group["betas"]
                state["step"] += 1
                if group["weight_decay"] != 0:
                    grad = grad.add(group["weight_decay"], p.data)
                mean.mul_(beta1).add_(1 - beta1, grad)
                square.mul_(beta2).addcmul_(1 - beta2, grad, grad)
                if group["amsgrad"]:
                    largest = state["largest"]
                    torch.max(largest, square, out=largest)
                    denom = largest.sqrt().add_(group["eps"])
                else:
                    denom = square.sqrt().add_(group["eps"])
                rate = (
                    group["lr"]
                    * math.sqrt(1 - beta2 ** state["step"])
                    / (1 - beta1 ** state["step"])
                )
                p.data.addcdiv_(mean, denom, value=-rate)
        return loss


class Signs(torch.optim.Optimizer):
    """Without gradients, with buffers for several rates in a dict of the state."""

    def __init__(self, params, lr=1e-3, rates=(0.0, 0.9)):
        super().__init__(params, dict(lr=lr, rates=rates))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    state = self.state[p]
                    if "buffers" not in state:
                        state["buffers"] = {rate: torch.zeros_like(p) for rate in group["rates"]}
                    for rate in group["rates"]:
                        buffer = state["buffers"][rate]
                        buffer.mul_(rate).add_(p.grad.sign())
                        p.add_(buffer, alpha=-group["lr"])


data, target = toy(24)
folds = [(slice(0, 12), slice(12, 24)), (slice(12, 24), slice(0, 12))]
for fold, (train, val) in enumerate(folds):
    model = fill(
        nn.Sequential(nn.Linear(12, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4)),
        fold,
    )
    groups = [{"params": model[0].parameters(), "lr": 0.02}, {"params": model[3].parameters()}]
    optimizer = (
        Averaged(groups, weight_decay=0.1) if fold == 0 else Signs(model.parameters(), lr=0.01)
    )
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(4):
        model.train()
        for x, y in zip(data[train].split(6), target[train].split(6)):
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        scheduler.step()
        model.eval()
        with torch.no_grad():
            score = criterion(model(data[val]), target[val])
        print(
            "%d %d %.5f %.5f %.5f"
            % (fold, epoch, loss.item(), score.item(), optimizer.param_groups[0]["lr"])
        )


def resumed():
    model = fill(nn.Linear(12, 4))
    optimizer = Averaged(model.parameters(), lr=0.05)
    for step in range(6):
        if step == 3:
            saved = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            model = fill(nn.Linear(12, 4))
            optimizer = Averaged(model.parameters(), lr=0.05)
            model.load_state_dict(saved["model"])
            optimizer.load_state_dict(saved["optimizer"])
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        print("%.5f" % loss.item())


resumed()


# Two networks of one class in one optimizer, and a leaf that is trained.
class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(12, 1)

    def forward(self, x):
        return self.fc(x)

    def bounded(self, x):
        return torch.tanh(self(x))


first, second = fill(Critic(), 1), fill(Critic(), 2)
weight = torch.zeros(1, requires_grad=True)
both = torch.optim.Adam(list(first.parameters()) + list(second.parameters()), lr=0.01)
own = torch.optim.SGD([weight], lr=0.1)
goals = target.float().unsqueeze(1) * 0.3
for step in range(4):
    loss = F.mse_loss(first.bounded(data), goals) + F.mse_loss(second.bounded(data), -goals)
    both.zero_grad()
    loss.backward()
    both.step()
    weight_loss = ((weight.exp() - 0.5 * step) ** 2).mean()
    own.zero_grad()
    weight_loss.backward()
    own.step()
    print("%.5f %.5f %.5f" % (loss.item(), weight_loss.item(), weight.item()))
