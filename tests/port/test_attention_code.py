"""Attention written as people write it: ported, it computes the same in PyNative and Graph mode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from migrate.port.write_output import write_tree

SOURCE = """\
import torch
from functools import partial
from math import sqrt
from torch import nn
from torch.amp import autocast


def exists(val):
    return val is not None


def weighed(x, *, matrix, squared=False):
    x = x @ matrix
    return x * x if squared else x


def smoothed(x, times):
    for _ in range(times):
        low, high = x * 0.5, x * 2.0
        x = low + x.mean(dim=-1, keepdim=True)
    return x + high


class Attention(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=0)
        self.matrix = nn.Parameter(torch.eye(dim // heads))

    @autocast("cuda", enabled=False)
    def forward(self, x):
        b, n, _, h, device = *x.shape, self.heads, x.device
        q, k, v = map(lambda t: t.reshape(b, n, h, -1).transpose(1, 2), self.to_qkv(x).chunk(3, -1))
        weigh = partial(weighed, matrix=self.matrix)
        q = weigh(q, squared=True)
        k = weigh(k, squared=False)
        dots = q @ k.transpose(-1, -2) * self.scale
        mask = torch.ones(n, n, device=device).triu(1).bool()
        dots = dots.masked_fill(mask, -torch.finfo(dots.dtype).max)
        return (dots.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, n, -1)


class Net(nn.Module):
    def __init__(self, dim=8, depth=2):
        super().__init__()
        self.layers = nn.ModuleList([])
        for level in range(depth):
            norm = nn.LayerNorm(dim)
            self.layers.append(nn.ModuleList([Attention(dim), norm if level else None]))

    def forward(self, x):
        for level, (attend, norm) in zip(reversed(range(len(self.layers))), self.layers):
            x = attend(x) * 2**level + x
            if exists(norm):
                x = norm(x)
        side = int(sqrt(x.shape[1]))
        return smoothed(x.reshape(x.shape[0], side, side, -1), 2)


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x):
        return (self.net(x) ** 2).sum()
"""


def run(source: str, folder: str) -> dict[str, object]:
    """Outputs and gradients of both sides, from the same weights."""
    import importlib
    import sys

    import mindspore
    import numpy as np
    import torch

    sys.path[:0] = [folder, "."]
    names = {}
    exec(source, names)
    torch.manual_seed(0)
    theirs = names["Loss"]()
    array = np.random.default_rng(0).standard_normal((2, 9, 8)).astype(np.float32)
    given = torch.from_numpy(array).requires_grad_()
    wanted = theirs.net(given)
    (slope,) = torch.autograd.grad(theirs(given), given)
    found = {"torch": (wanted.detach().numpy(), slope.numpy())}
    module = importlib.import_module("attention")
    for mode in ("pynative", "graph"):
        mindspore.set_context(mode={"pynative": 1, "graph": 0}[mode])
        ours = module.Loss().set_train()
        values = {n: p.detach().numpy() for n, p in theirs.named_parameters()}
        for parameter in ours.trainable_params():
            name = parameter.name.replace("gamma", "weight").replace("beta", "bias")
            parameter.set_data(mindspore.Tensor(values.pop(name)))
        assert not values
        x = mindspore.Tensor(array)
        found[mode] = (ours.net(x).asnumpy(), mindspore.grad(ours)(x).asnumpy())
    return found


@pytest.mark.frameworks
def test_attention_computes_the_same_in_both_modes(
    port_files: Callable[..., Any], tmp_path: Path, run_in_worker: Callable[..., Any]
) -> None:
    import numpy as np

    tree = port_files({"attention.py": SOURCE}, "attention.py")
    assert not tree.findings
    out = tmp_path / "out"
    write_tree(tree, out, force=False)
    found = run_in_worker(run, SOURCE, str(out), timeout=300)
    for mode in ("pynative", "graph"):
        for ours, theirs in zip(found[mode], found["torch"], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-4, err_msg=mode)


HEAD = "import torch\nfrom functools import partial\nfrom torch import nn\n\n\n"


def forward(*lines: str) -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return f"{HEAD}class Net(nn.Module):\n    def forward(self, x, n=2):\n{body}\n"


def test_what_a_loop_makes_is_made_before(port) -> None:
    text = port(forward("for i in range(n):", "    y = x * i", "return y")).text
    assert "        y = None\n        for i in range(n):\n" in text
    inner = ("for i in range(n):", "    for j in range(n):", "        y = x * j", "    x = y")
    assert "        y = None\n        for i in range(n):\n" in port(forward(*inner)).text
    known = port(forward("y = 0", "for i in range(n):", "    y = y + x", "return y")).text
    assert "None" not in known
    own = port(forward("for i in range(n):", "    y = x * i", "y = x", "return y")).text
    assert "None" not in own
    script = (
        HEAD + "def train(data):\n    for x in data:\n        y = torch.relu(x)\n    return y\n"
    )
    assert "None" not in port(script).text


def test_a_partial_that_is_called_twice_is_written_out(port) -> None:
    calls = ("f = partial(g, m=self.m)", "a = f(x, flag=True)", "return a + f(x, flag=False)")
    text = port(forward(*calls)).text
    assert "a = g(x, flag=True, m=self.m)" in text and "partial(" not in text
    assert "return a + g(x, flag=False, m=self.m)" in text


def test_a_partial_stays_where_its_values_change(port) -> None:
    calls = ("f = partial(g, m=x)", "x = f(x, flag=True)", "return f(x, flag=False)")
    assert "f = partial(g, m=x)" in port(forward(*calls)).text
    passed = ("f = partial(g, m=n)", "a = f(x, k=1) + f(x, k=2)", "return map(f, a)")
    assert "f = partial(g, m=n)" in port(forward(*passed)).text


def test_not_implemented_is_an_error(port) -> None:
    assert "raise NotImplementedError('no')" in port(forward("raise NotImplemented('no')")).text


def test_a_function_that_autocast_decorates_keeps_its_precision(port) -> None:
    text = "from torch.amp import autocast\n\n@autocast('cuda'{0})\ndef f(x):\n    return x\n"
    off, on = port(text.format(", enabled=False")), port(text.format(""))
    assert not off.findings and "@helpers.autocast('cuda', enabled=False)\ndef f(x)" in off.text
    assert not on.findings and "@helpers.autocast('cuda')\ndef f(x)" in on.text


def test_all_of_what_a_function_says_is_asked_value_by_value(port) -> None:
    head = "import torch\nfrom torch import nn\n\n\ndef even(n):\n    return n % 2 == 0\n\n\n"
    net = "class Net(nn.Module):\n    def forward(self, x):\n        {0}\n        return x.relu()\n"
    text = port(head + net.format("assert all(even(n) for n in x.shape[-2:]), 'odd'")).text
    assert "assert helpers.all_of([even(n) for n in x.shape[-2:]]), 'odd'" in text
    assert (
        "any([n > 2 for n in x.shape])"
        in port(head + net.format("assert any([n > 2 for n in x.shape])")).text
    )
    outside = head + "def check(x: torch.Tensor):\n    return all(even(n) for n in x.shape)\n"
    assert "all(even(n) for n in x.shape)" in port(outside).text


def test_a_container_that_a_function_fills_gets_its_names(port) -> None:
    text = port(
        HEAD + "def put(layers, layer):\n    layers.insert(0, layer)\n\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.ups = nn.ModuleList([])\n        put(self.ups, nn.Linear(2, 2))\n"
    ).text
    assert "helpers.name_parameters(self)" in text
    assert (
        "name_parameters"
        not in port(
            HEAD + "def exists(layers):\n    return layers is not None\n\n\n"
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.ups = nn.ModuleList([nn.Linear(2, 2)])\n        print(exists(self.ups))\n"
        ).text
    )
