"""Mixed precision: 30 steps with overflows, blocks in blocks, two optimizers of one scaler."""

import sys

import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, norm_layer=nn.BatchNorm2d):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.bn = norm_layer(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.pool = nn.AvgPool2d(2)
        self.fc = nn.Linear(8 * 4 * 4, 6)

    def parts(self, x):
        a = self.conv(x)
        b = torch.relu(self.bn(a))
        c = self.conv2(b) + b
        d = self.pool(c)
        e = self.fc(torch.flatten(d, 1))
        return a, b, c, d, e, torch.softmax(e, dim=1), e.sum()

    def forward(self, x):
        return self.parts(x)[4]


def set_weights(model, seed):
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.from_numpy(0.2 * rng.standard_normal(tuple(p.shape)).astype("float32")))


def batches(seed, steps, injected):
    rng = np.random.default_rng(seed)
    for i in range(steps):
        x = rng.standard_normal((4, 3, 8, 8)).astype("float32")
        yield (
            torch.from_numpy(x * (1e30 if i in injected else 1.0)),
            torch.from_numpy(rng.integers(0, 6, 4)),
        )


def train(model, optimizer, scaler: torch.cuda.amp.GradScaler | None, device):
    losses, scales = [], []
    model.train()
    for x, y in batches(1, 30, (3, 17)):
        optimizer.zero_grad()
        with torch.autocast(device, dtype=torch.float16):
            output = model(x)
            loss = nn.functional.cross_entropy(output, y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
        scales.append(scaler.get_scale())
    return losses, scales


def train_two(device):
    one, two = nn.Linear(6, 6), nn.Linear(6, 3)
    set_weights(one, 5)
    set_weights(two, 6)
    first = torch.optim.SGD(one.parameters(), lr=0.05)
    second = torch.optim.SGD(two.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler(device, init_scale=256.0)
    rng = np.random.default_rng(7)
    losses = []
    for _ in range(5):
        x = torch.from_numpy(rng.standard_normal((4, 6)).astype("float32"))
        y = torch.from_numpy(rng.integers(0, 3, 4))
        first.zero_grad()
        second.zero_grad()
        with torch.autocast(device, dtype=torch.float16):
            loss = nn.functional.cross_entropy(two(torch.relu(one(x))), y)
        scaler.scale(loss).backward()
        scaler.unscale_(first)
        nn.utils.clip_grad_norm_(one.parameters(), 0.1)
        scaler.step(first)
        scaler.step(second)
        scaler.update()
        losses.append(loss.item())
    return losses


def train_outside(device):
    """A product outside of the block, far out of float16."""
    model = nn.Linear(16, 16, bias=False)
    set_weights(model, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(device, init_scale=8.0)
    rng = np.random.default_rng(9)
    found = []
    for _ in range(3):
        x = torch.from_numpy(rng.standard_normal((4, 16)).astype("float32"))
        with torch.autocast(device, dtype=torch.float16):
            out = model(x)
        large = 1e3 * model.weight
        product = (large @ large.t()).pow(2).mean()
        loss = out.float().pow(2).mean() + 1e-14 * product
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        found.append(product.item())
    return found


def evaluate(model, device):
    """The types of the layers' results, inside and outside of blocks."""
    model.eval()
    x = torch.ones(1, 3, 8, 8)
    with torch.no_grad():
        plain = model.parts(x)
        with torch.autocast(device, dtype=torch.float16):
            cast = model.parts(x)
            with torch.autocast(device, enabled=False):
                off = model.parts(x)
    found = [[str(t.dtype).rpartition(".")[2].lower() for t in g] for g in (plain, cast, off)]
    return plain[4], found


def main(out, device):
    model = Net()
    set_weights(model, 0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler(device, init_scale=512.0, growth_interval=5)
    losses, scales = train(model, optimizer, scaler, device)
    plain, types = evaluate(model, device)
    more = {"two": train_two(device), "outside": train_outside(device)}
    np.savez(out, losses=losses, scales=scales, plain=plain.numpy(), types=types, **more)


if __name__ == "__main__":
    main(sys.argv[1], "cpu")
