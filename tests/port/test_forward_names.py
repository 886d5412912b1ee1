"""`forward` as a name: a member of a class, a text for getattr, an attribute that is replaced."""

from __future__ import annotations

SOURCE = """
from inspect import getattr_static

import torch
from torch import nn


class Base(nn.Module):
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        old = getattr_static(cls, "forward")
        if "forward" not in cls.__dict__:
            cls.forward = old

    def forward(self, x):
        return x


def patch(net: nn.Module, new):
    if hasattr(net, "forward"):
        setattr(net, "forward", new)
    Base.forward = new
"""


def test_texts_and_members_of_classes(port) -> None:
    ported = port(SOURCE)
    assert not ported.findings
    assert "forward" not in ported.text
    assert 'old = getattr_static(cls, "construct")' in ported.text
    assert 'if "construct" not in cls.__dict__:' in ported.text
    assert 'setattr(net, "construct", new)' in ported.text
    assert "Base.construct = new" in ported.text


def test_a_replacement_that_nobody_may_call(port) -> None:
    ported = port(
        "import torch\n\n\ndef patch(m, new):\n    m.forward = new\n"
        "    setattr(m, 'forward', new)\n    return torch.ones(1)\n"
    )
    assert [finding.code for finding in ported.findings] == ["MS307", "MS307"]
    assert "    m.forward = new" in ported.text


def test_a_name_in_the_list_of_a_module(port) -> None:
    ported = port(
        "import torch\nimport torch.nn.functional as F\n\n"
        "HAS = 'silu' in dir(torch.nn.functional)\nNOT = 'mish' not in F.__dict__\n"
        "TAKES = 'indexing' in torch.meshgrid.__kwdefaults__\n"
    )
    assert not ported.findings
    assert "HAS = True" in ported.text
    assert "NOT = False" in ported.text
    assert "TAKES = True" in ported.text


def test_functions_that_a_class_keeps_are_no_methods(port) -> None:
    ported = port(
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    conv = torch.conv2d\n"
        "    act = nn.ReLU\n\n    def forward(self, x, w):\n        return self.conv(x, weight=w)\n"
    )
    assert not ported.findings
    assert "conv = staticmethod(helpers.conv2d)" in ported.text
    assert "act = helpers.ReLU\n" in ported.text


def test_the_type_of_a_context_is_a_text(port) -> None:
    ported = port(
        "import torch\nfrom torch.autograd.function import FunctionCtx\n\n\n"
        "class Gather(torch.autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx: FunctionCtx, x):\n        return x\n\n    @staticmethod\n"
        "    def backward(ctx: FunctionCtx, *grads):\n        return grads[0]\n"
    )
    assert [finding.code for finding in ported.findings] == ["MS301"]
    assert "ctx: 'torch.autograd.function.FunctionCtx'" in ported.text


def test_layers_that_are_not_there_keep_their_places(port) -> None:
    ported = port(
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self, depth, last):\n        super().__init__()\n"
        "        extra = lambda: nn.ReLU() if last else None\n"
        "        norm = nn.LayerNorm(2) if last else None\n"
        "        self.extras = nn.ModuleList([])\n"
        "        self.pairs = nn.ModuleList([norm, nn.ReLU()])\n"
        "        self.plain = nn.ModuleList([])\n"
        "        for _ in range(depth):\n            self.extras.append(extra())\n"
        "            self.plain.append(nn.ReLU())\n"
    )
    assert not ported.findings
    assert "self.extras = helpers.ModuleList([])" in ported.text
    assert "self.pairs = helpers.ModuleList([norm, nn.ReLU()])" in ported.text
    assert "self.plain = nn.CellList([])" in ported.text
