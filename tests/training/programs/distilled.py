"""A teacher without gradients, an averaged model, a rate changed by hand; a Trainer class."""

# ruff: noqa - in the style of their authors

import copy

import torch
import torch.nn.functional as F
from shared import fill, toy
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MLP(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, hidden), nn.BatchNorm1d(hidden), nn.ReLU())
        self.head = nn.Linear(hidden, 4)

    def forward(self, x):
        return self.head(self.net(x))


class Averaged:
    def __init__(self, model, decay):
        self.decay = decay
        self.model = copy.deepcopy(model).eval()

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.model.parameters(), model.parameters()):
            e.mul_(self.decay).add_(p, alpha=1 - self.decay)
        for e, b in zip(self.model.buffers(), model.buffers()):
            e.copy_(b)


class Trainer:
    def __init__(self, student, teacher):
        self.student, self.teacher = student, teacher
        self.optimizer = torch.optim.SGD(student.parameters(), lr=0.2)
        self.average = Averaged(student, 0.8)
        self.weight = 0.5

    def train_epoch(self, loader):
        total = 0.0
        for x, y in loader:
            with torch.no_grad():
                goal = self.teacher(x).softmax(-1)
            out = self.student(x)
            soft = F.kl_div(F.log_softmax(out, dim=1), goal, reduction="batchmean")
            loss = self.weight * soft + F.cross_entropy(out, y)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
            self.optimizer.step()
            self.average.update(self.student)
            total += loss.item()
        return total / len(loader)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            loss = self.train_epoch(loader)
            for group in self.optimizer.param_groups:
                group["lr"] *= 0.5
            self.weight *= 2
            with torch.no_grad():
                averaged = F.cross_entropy(self.average.model(x_all), y_all).item()
            print(f"{loss:.6f} {averaged:.6f} {self.optimizer.param_groups[0]['lr']:.4f}")


x_all, y_all = toy()
teacher = fill(MLP(32), 5)
teacher.eval()
Trainer(fill(MLP(8), 6), teacher).fit(DataLoader(TensorDataset(x_all, y_all), batch_size=8), 3)
