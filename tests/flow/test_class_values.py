"""Classes that a program hands on as values, and how they are called there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate.flow.class_values import calls_of_class
from migrate.project import discover

BLOCK = """
from functools import partial
from torch import nn


class Block(nn.Module):
    def __init__(self, width, norm_layer=nn.BatchNorm2d):
        super().__init__()
        self.bn = norm_layer(width)


class Net(nn.Module):
    def __init__(self, block, norm_layer=None):
        super().__init__()
        self.norm_layer = norm_layer or nn.BatchNorm2d
        self.first = self.norm_layer(8)
        self.second = block(8, self.norm_layer)
"""
KNOWN = ["norm_layer(width)", "self.norm_layer(8)"]


def calls(folder: Path, **files: str) -> list[str] | None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    found = calls_of_class(discover([folder]), "BatchNorm2d")
    return None if found is None else sorted(ast.unparse(call) for call in found)


def test_all_calls_are_found(tmp_path: Path) -> None:
    assert calls(tmp_path, net=BLOCK + "net = Net(Block)\n") == KNOWN


def test_calls_in_other_files_are_found(tmp_path: Path) -> None:
    other = "from net import Net, Block\nnet = Net(Block)\nnet.norm_layer(8, momentum=0.3)\n"
    found = calls(tmp_path, net=BLOCK, use=other)
    assert found is not None and "net.norm_layer(8, momentum=0.3)" in found


def test_other_names_of_the_class_are_followed(tmp_path: Path) -> None:
    text = "from torch.nn import BatchNorm2d as BN\ndef make(norm=BN):\n    return norm(3, 0.1)\n"
    assert calls(tmp_path, net=text) == ["norm(3, 0.1)"]


@pytest.mark.parametrize(
    "line",
    [
        "layers = [nn.BatchNorm2d]",
        "make = {'bn': nn.BatchNorm2d}",
        "norm = partial(nn.BatchNorm2d, eps=1e-3)",
        "name = 'norm_layer'",
        "name = 'BatchNorm2d'",
        "print(nn.BatchNorm2d)",
        "same = Net(Block).norm_layer is nn.BatchNorm2d",
        "other = Net(Block).norm_layer.__name__",
        "norm = getattr(Net(Block), input())",
        "def pick():\n    return nn.BatchNorm2d",
        "import timm\nmodel = timm.create(norm_layer=nn.BatchNorm2d)",
        "def build(**o):\n    return o.popitem()\nnet = build(norm_layer=nn.BatchNorm2d)",
        "def deco(f): ...\n@deco\ndef build(a, b): ...\nbuild(3, nn.BatchNorm2d)",
        "for norm_layer in (nn.BatchNorm2d, nn.LayerNorm): ...",
        "Net(*[Block, nn.BatchNorm2d])",
        "Block.__init__(net, 8, nn.BatchNorm2d)",
    ],
)
def test_where_it_goes_elsewhere_it_is_unknown(tmp_path: Path, line: str) -> None:
    assert calls(tmp_path, net=BLOCK + "net = Net(Block)\n" + line + "\n") is None


@pytest.mark.parametrize(
    "line",
    [
        "same = isinstance(net.first, nn.BatchNorm2d)",
        "def check(layer: nn.BatchNorm2d) -> nn.BatchNorm2d: ...",
        "class Own(nn.BatchNorm2d): ...",
        "plain = nn.BatchNorm2d(8, momentum=0.3)",
        "def build(**o):\n    return Net(Block, **o)\nnet = build(norm_layer=nn.BatchNorm2d)",
        "value = getattr(net, 'first')",
    ],
)
def test_what_hands_nothing_on_leaves_it_known(tmp_path: Path, line: str) -> None:
    assert calls(tmp_path, net=BLOCK + "net = Net(Block)\n" + line + "\n") == KNOWN
