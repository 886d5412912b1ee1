"""What Graph mode compiles only in other forms: ported, then one step compared in both modes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nursery import Nursery
from tests.zoo.test_idioms import check_idiom

# What it shows, its input, its source: `Net` is compared.
IDIOMS = {
    "parameters and layers that forward lists": (
        "2,5",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(5, 5)
                self.stages = nn.Sequential(nn.Linear(5, 5), nn.Linear(5, 5))
                self.layers = nn.ModuleList([nn.Linear(5, 5), nn.Linear(5, 5)])
                self.register_buffer("shift", torch.ones(5))

            @property
            def dtype(self):
                return next(self.parameters()).dtype

            def forward(self, x):
                device = next(self.parameters()).device
                x = x.to(device).to(dtype=self.dtype)
                x = x + torch.ones(2, 5, dtype=next(iter(self.fc.parameters())).dtype)
                for stage in self.stages.children():
                    x = stage(x)
                for layer in self.layers.children():
                    x = layer(x)
                size = sum(p.numel() for p in self.parameters())
                weight = sum([(p**2).sum() for p in self.layers.parameters()])
                for name, p in self.named_parameters():
                    if "bias" in name:
                        weight = weight + p.abs().sum()
                for name, layer in self.named_children():
                    if name == "fc":
                        x = layer(x) + layer.weight.sum()
                return x + next(self.buffers()) + weight / size
        """,
    ),
    "experts that a tensor chooses": (
        "2,4,6",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.gate = nn.Linear(6, 5, bias=False)
                self.experts = nn.ModuleList([nn.Linear(6, 6) for _ in range(5)])

            def forward(self, x):
                flat = x.flatten(0, 1)
                weights, chosen = torch.topk(self.gate(flat).softmax(-1), 2)
                chosen = chosen.clamp(max=3)
                out = torch.zeros_like(flat)
                for i, expert in enumerate(self.experts):
                    rows, place = torch.where(chosen == i)
                    if rows.numel() == 0:
                        continue
                    out[rows] += weights[rows, place, None] * expert(flat[rows])
                kept = torch.zeros_like(flat)
                for i, expert in enumerate(self.experts):
                    mask = (chosen == i).any(-1)
                    if mask.any():
                        kept[mask] += expert(flat[mask])
                return (out + kept).view(x.shape)
        """,
    ),
    "functions that a layer holds: lambdas with defaults, in lists, partials": (
        "5,3",
        """
        from functools import partial


        class Waves:
            def __init__(self, count):
                self.functions = [lambda x: x]
                for f in 2.0 ** torch.linspace(0.0, count - 1, steps=count):
                    for wave in (torch.sin, torch.cos):
                        self.functions.append(lambda x, wave=wave, f=f: wave(x * f))

            def embed(self, x):
                return torch.cat([function(x) for function in self.functions], -1)


        def embedding(count):
            waves = Waves(count)
            embed = lambda x, waves=waves: waves.embed(x)
            return embed, 3 + 6 * count


        ACTIVATIONS = {"relu": lambda x: F.relu(x), "double": lambda x: x * 2}


        class Block(nn.Module):
            def __init__(self, width, act=lambda x: F.relu(x) + x, scale=None):
                super().__init__()
                self.fc = nn.Linear(width, 4)
                self.act = act
                self.scale = scale or (lambda v: v * 0.5)
                self.leak = partial(F.leaky_relu, negative_slope=0.3)

            def forward(self, x, last=lambda v: v.sigmoid()):
                return last(self.leak(self.scale(self.act(self.fc(x)))))


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed, width = embedding(2)
                self.first = Block(width)
                self.second = Block(4, act=ACTIVATIONS["double"], scale=lambda v: v - 1)

            def forward(self, x):
                return self.second(self.first(self.embed(x)))
        """,
    ),
    "functions that change their argument, sums with parts": (
        "2,3,5,5",
        """
        def add_bias(scores: torch.Tensor, bias: torch.Tensor, whole: bool = False):
            if whole:
                scores.add_(bias.sum())
            else:
                scores[:, :, 1:, 1:] += bias
            return scores


        def bump(x: torch.Tensor, k):
            x += k
            return x


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(5, 5)
                self.bias = nn.Parameter(torch.randn(3, 4, 4))

            def forward(self, x):
                y = self.fc(x)
                add_bias(y, self.bias)
                add_bias(y, self.bias, whole=True)
                z = bump(y, 1.0)
                w = z * 2 + y
                w[:, 1:-1] += 1.5
                w[:, :, -2:, :7] -= self.fc.weight[:2]
                return add_bias(w, self.bias * 2) * y
        """,
    ),
    "lists that grow at their front, dictionaries of tensors, reduce and chain": (
        "2,6",
        """
        from collections import OrderedDict
        from functools import reduce
        from itertools import chain


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(6, 6)
                self.layers = nn.ModuleList([nn.Linear(6, 6), nn.Linear(6, 6)])

            def inner(self, x, **options):
                scale = options.pop("scale", 1.0)
                return self.last(x * scale, **options)

            def last(self, x, bias=0.0):
                return x + bias

            def forward(self, x):
                y = self.fc(x)
                found = [x]
                found.insert(0, y)
                found.extend([layer(y) for layer in self.layers])
                found.extend(torch.chunk(y, 2, dim=0))
                found.reverse()
                named = dict(first=found[-1], second=y)
                doubled = OrderedDict([(k, v * 2) for k, v in zip(["u", "v"], [y, x])])
                total = named["first"] + doubled["u"] + named.copy()["second"]
                total = total + reduce(lambda p, q: p + q, [y, x, y])
                for part in chain([x], found):
                    total = total + part.mean()
                return self.inner(total, scale=0.5, bias=0.25)
        """,
    ),
    "results that a layer keeps and reads again": (
        "2,6",
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Linear(6, 6)
                self.b = nn.Linear(6, 6)
                self.features = None
                self.shape = None
                self.register_buffer("steps", torch.zeros(1))

            def forward(self, x):
                self.shape = x.shape
                self.features = self.a(x)
                self.steps = self.steps + 1
                h = self.b(self.features) + self.features * 2
                self.features = h * 3
                return (self.features * 0.5).view(self.shape[0], -1) + self.steps
        """,
    ),
    "convolutions over volumes in groups": (
        "2,4,5,6,6",
        """
        class Net(nn.Module):
            def __init__(self, conv=nn.Conv3d):
                super().__init__()
                self.a = nn.Conv3d(4, 8, 3, padding=1, groups=4, bias=False)
                self.b = nn.Conv3d(8, 8, (3, 1, 3), stride=(1, 2, 2), padding=(1, 0, 1), groups=8)
                self.c = conv(8, 4, 2, dilation=2, groups=2)
                self.d = nn.Conv3d(4, 4, 3, padding=1, groups=4, padding_mode="replicate")

            def forward(self, x):
                return self.d(self.c(self.b(self.a(x))))
        """,
    ),
    "numbers that numpy computes of sizes": (
        "2,6,4",
        """
        import numpy as np


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 4)

            def forward(self, x):
                length = x.shape[1]
                part = 2 * np.ceil(np.log(length)).astype("int").item()
                half = round(length * 0.5)
                x = self.fc(x) * np.int32(length) + np.floor(length / 4).astype(int)
                x = x[:, : np.ceil(length / 2).astype(int)] + x[:, half:] * np.sqrt(length).item()
                return x * part + round(2.6)
        """,
    ),
}


@pytest.mark.parametrize("idiom", IDIOMS)
def test_idiom(idiom: str, nursery: Nursery, tmp_path: Path) -> None:
    check_idiom(*IDIOMS[idiom], tmp_path)
