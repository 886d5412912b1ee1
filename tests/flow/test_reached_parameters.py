"""Programs whose optimizers hold no parameter that a loss may not reach, and those that might."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.flow.reached_parameters import reaches_all_parameters
from migrate.project import discover

HEAD = """
import torch
from torch import nn, optim
import torch.nn.functional as F


"""
STEP = """
def train(model, loader, optimizer, criterion):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()


def main(loader):
    model = Net().to("cuda")
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    train(model, loader, optimizer, nn.CrossEntropyLoss())
"""
NET = """
class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.width = width
        self.fc1 = nn.Linear(4, width)
        self.act = nn.ReLU()
        self.fc2 = nn.Linear(width, 2)

    def forward(self, x):
        return self.fc2(self.act(self.fc1(x)))
"""


def net(forward: str, init: str = "") -> str:
    """The network with another forward, and more in its constructor."""
    start = NET.index("    def forward")
    body = "".join(f"        {line}\n" for line in forward.split("\n"))
    more = "".join(f"        {line}\n" for line in init.split("\n")) if init else ""
    return (
        NET[:start].rstrip("\n") + "\n" + more + "\n    def forward(self, x, mask=None):\n" + body
    )


def reaches(tmp_path: Path, text: str) -> bool:
    (tmp_path / "train.py").write_text(HEAD + text)
    (project,) = [discover([tmp_path])]
    return reaches_all_parameters(project)


@pytest.mark.parametrize(
    "network",
    [
        NET,
        net("x = F.relu(self.fc1(x))\nx = F.dropout(x, 0.5, self.training)\nreturn self.fc2(x)"),
        net("y = self.fc1(x)\nif y.mean() > 0:\n    y = y + 1\nreturn self.fc2(y)"),
        net(
            "s = x if self.down is None else self.down(x)\nreturn self.fc2(self.fc1(x)) + s",
            "self.down = None",
        ),
        net(
            "s = x\nif self.down is not None:\n    s = self.down(x)\nreturn self.fc2(self.fc1(s))",
            "self.down = nn.Linear(4, 4) if width > 8 else None",
        ),
        net(
            "x = self.fc1(x)\nfor block in self.blocks:\n    x = x + block(x)\nreturn self.fc2(x)",
            "self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(3))",
        ),
        net(
            "x = self.fc1(x)\nx = torch.cat([block(x) for block in self.blocks], 1)\n"
            "return self.fc2(x.view(x.size(0), -1))",
            "self.blocks = nn.ModuleList([nn.Linear(width, width)])",
        ),
        net(
            "outs = []\nfor block in self.blocks:\n    outs.append(block(x))\n"
            "return self.fc2(self.fc1(torch.stack(outs).sum(0)))",
            "self.blocks = nn.ModuleList([nn.Linear(width, width)])",
        ),
        net("return self.head(x, self.scale)", "self.scale = nn.Parameter(torch.ones(1))")
        + "\n    def head(self, x, scale):\n        return self.fc2(self.fc1(x)) * scale\n",
        net("a = self.fc2(self.fc1(x))\nif mask is None:\n    return a, a + 1\nreturn a + mask, a"),
    ],
)
def test_a_network_whose_output_depends_on_all_its_layers(tmp_path: Path, network: str) -> None:
    assert reaches(tmp_path, network + STEP)


@pytest.mark.parametrize(
    "network",
    [
        net("return self.fc2(self.fc1(x))", "self.aux = nn.Linear(4, 2)"),
        net("aux = self.aux(x)\nreturn self.fc2(self.fc1(x))", "self.aux = nn.Linear(4, 2)"),
        net("return self.fc2(self.fc1(x)), self.aux(x)", "self.aux = nn.Linear(4, 2)"),
        net("outs = [self.fc1(x), self.fc2(x)]\nreturn outs"),
        net("outs = [self.fc1(x), self.fc2(x)]\nreturn outs[-1]"),
        net("outs = []\nouts.append(self.fc1(x))\nouts.append(self.fc2(x))\nreturn outs"),
        net("return {'a': self.fc1(x), 'b': self.fc2(x)}"),
        net("x = self.fc1(x)\nif x.mean() > 0:\n    return x\nreturn self.fc2(x)"),
        net("y = self.fc1(x)\nif mask is not None:\n    y = x\nreturn self.fc2(y)"),
        net("return self.fc2(x) if mask is None else self.fc2(self.fc1(x))"),
        net("y = self.fc1(x)\ny = x\nreturn self.fc2(y)"),
        net("return self.fc2(self.fc1(x).detach())"),
        net("return self.fc2(self.fc1(x).argmax(1))"),
        net("with torch.no_grad():\n    x = self.fc1(x)\nreturn self.fc2(x)"),
        net("return F.linear(self.fc2(x), self.fc1.weight)"),
        net("try:\n    x = self.fc1(x)\nexcept ValueError:\n    pass\nreturn self.fc2(x)"),
        net("while x.mean() > 0:\n    x = self.fc1(x)\nreturn self.fc2(x)"),
        net("return (lambda z: z)(self.fc2(self.fc1(x)))"),
        net(
            "for block in self.blocks:\n    y = block(x)\nreturn self.fc2(self.fc1(y))",
            "self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])",
        ),
        net(
            "for block in self.blocks:\n    x = block(x)\n    if x.mean() > 0:\n        break\n"
            "return self.fc2(self.fc1(x))",
            "self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])",
        ),
        net(
            "return self.fc2(self.fc1(self.blocks[0](x)))",
            "self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])",
        ),
        net(
            "return self.fc2(self.fc1(torch.cat([b(x) for b in self.blocks if b.bias is None])))",
            "self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])",
        ),
        net("return self.fc2(self.fc1(x))", "setattr(self, 'aux', nn.Linear(4, 2))"),
        net("return self.fc2(self.fc1(x))", "self.add_module('aux', nn.Linear(4, 2))"),
        net("return self.fc2(self.fc1(x))", "self.teacher = build_teacher()"),
        net(
            "out, weights = self.attention(x, x, x)\nreturn self.fc2(self.fc1(weights))",
            "self.attention = nn.MultiheadAttention(4, 1)",
        ),
        "class Base(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.aux = nn.Linear(4, 2)\n" + NET.replace("nn.Module", "Base"),
        "class Zero(nn.Module):\n    def forward(self, x):\n        return torch.zeros(3, 8)\n"
        + net("return self.fc2(self.zero(self.fc1(x)))", "self.zero = Zero()"),
        NET.replace("nn.Module", "LightningModule"),
    ],
)
def test_a_network_that_may_pass_layers_by(tmp_path: Path, network: str) -> None:
    assert not reaches(tmp_path, network + STEP)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # frozen, in one way or another
        ("    optimizer = ", "    model.fc1.requires_grad_(False)\n    optimizer = "),
        ("    optimizer = ", "    for p in model.fc1.parameters():\n"
         "        p.requires_grad = False\n    optimizer = "),
        # another network than the one of the loss
        ("SGD(model.parameters()", "SGD(Net().parameters()"),
        ("SGD(model.parameters()", "SGD([*model.parameters(), *other.parameters()]"),
        ("    train(model,", "    train(Net(),"),
        ("    train(model,", "    train(model.fc1,"),
        ("    optimizer.step()", "    optimizer.step()\n    other = Net()\n    train(other, 1, 2, 3)"),  # noqa: E501
        ("criterion(model(x), y)", "criterion(Net()(x), y)"),
        ("criterion(model(x), y)", "criterion(model(x).detach() + teacher(x), y)"),
        ("        loss = ", "        out = model(x)\n        model = teacher\n        loss = "),
        # one that comes from elsewhere
        ("model = Net()", "model = torchvision.models.resnet18()"),
        ("model = Net()", "import timm\n    model = timm.create_model('a')"),
        # two passes, two optimizers
        ("        optimizer.step()", "        model(x).sum().backward()\n        optimizer.step()"),
        ("    train(model,", "    other = optim.Adam([weight])\n    train(model,"),
        ("    train(model,", "    optimizer.add_param_group({'params': more})\n    train(model,"),
    ],
)  # fmt: skip
def test_a_step_that_may_not_reach_all(tmp_path: Path, old: str, new: str) -> None:
    assert old in STEP
    assert not reaches(tmp_path, NET + STEP.replace(old, new))


def test_attributes_of_one_trainer(tmp_path: Path) -> None:
    trainer = """
class Trainer:
    def __init__(self, loader):
        self.model = Net()
        self.optimizer = optim.AdamW(self.model.parameters())
        self.loader = loader

    def epoch(self):
        for x, y in self.loader:
            self.optimizer.zero_grad()
            {loss}
            loss.backward()
            self.optimizer.step()
"""
    plain = "loss = F.cross_entropy(self.model(x), y)"
    assert reaches(tmp_path, NET + trainer.format(loss=plain))
    other = "loss = F.cross_entropy(self.other(x), y)"
    assert not reaches(tmp_path, NET + trainer.format(loss=other))


def test_groups_wrappers_and_scaled_losses(tmp_path: Path) -> None:
    text = """
def groups(model, decay):
    return [{"params": [p for n, p in model.named_parameters()], "weight_decay": decay}]


def train(net, loader, optimizer, scaler):
    for x, y in loader:
        with torch.autocast("cuda"):
            out = net(x)
            loss = F.cross_entropy(out, y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)


NETS = {"small": Net}


def main(loader, name):
    model = NETS[name]().to("cuda")
    optimizer = optim.SGD(groups(model, 0.1), lr=0.1)
    model = nn.parallel.DistributedDataParallel(model)
    train(model, loader, optimizer, torch.amp.GradScaler("cuda"))
"""
    assert reaches(tmp_path, NET + text)
    assert not reaches(tmp_path, NET + text.replace('"small": Net', '"small": load_one'))


SCRIPT = """
import models

net = models.__dict__[name]()
net = nn.DataParallel(net)
optimizer = optim.SGD(net.parameters(), lr=0.1)


def train(loader):
    net.train()
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        if amp:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
        else:
            loss.backward()
            optimizer.step()
"""


def test_a_script_with_its_network_at_the_top(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(HEAD + NET, encoding="utf-8")
    assert reaches(tmp_path, SCRIPT)
    assert reaches(tmp_path, SCRIPT.replace("models.__dict__[name]", "getattr(models, name)"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("models.__dict__[name]()", "timm.__dict__[name]()"),
        ("models.__dict__[name]()", "torchvision.models.resnet18()"),
        ("def train(loader):", "def train(loader, net):"),
        ("    net.train()", "    global net\n    net = nn.Linear(2, 2)"),
        ("    net.train()", "    net = nn.Linear(2, 2)"),
        ("optimizer = ", "for net in [nn.Linear(2, 2)]: ...\noptimizer = "),
        ("        if amp:", "        (loss * 2).backward()\n        if amp:"),
        ("            loss.backward()", "            other(x).sum().backward()"),
    ],
)
def test_a_script_whose_network_may_be_another(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "models.py").write_text(HEAD + NET, encoding="utf-8")
    assert old in SCRIPT
    assert not reaches(tmp_path, SCRIPT.replace(old, new))
