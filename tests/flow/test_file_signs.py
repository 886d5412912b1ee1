"""What the syntax of a file shows, however it is spelled."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate.flow.file_signs import Sign, signs_in
from migrate.flow.project_flags import imported_names
from migrate.project import discover


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("p.requires_grad = False", Sign.SETS_REQUIRES_GRAD),
        ("a, p.requires_grad = 1, flag", Sign.SETS_REQUIRES_GRAD | Sign.THAWS),
        ("p.requires_grad=\\\n  True", Sign.SETS_REQUIRES_GRAD | Sign.THAWS),
        ("setattr(p, 'requires_grad', on)", Sign.SETS_REQUIRES_GRAD | Sign.THAWS),
        ("net.requires_grad_(False)", Sign.SETS_REQUIRES_GRAD),
        ("net.requires_grad_()", Sign.SETS_REQUIRES_GRAD | Sign.THAWS),
        ("nn.Parameter(x, requires_grad=trained)", Sign.SETS_REQUIRES_GRAD),
        ("nn.Parameter(x, requires_grad=True)", Sign.NOTHING),
        ("if p.requires_grad == False: pass", Sign.NOTHING),
        ("p.grad *= 2", Sign.READS_GRADIENTS),
        ("getattr(p, 'grad')", Sign.READS_GRADIENTS),
        ("torch.autograd.grad(y, x)", Sign.NOTHING),
        ("f'{loss:.3f}'", Sign.FORMATS_NUMBERS),
        ("f'{loss:{width}.{digits}f}'", Sign.FORMATS_NUMBERS),
        ("AverageMeter('Loss', ':.4e')", Sign.FORMATS_NUMBERS),
        ("'{:6.2f}'.format(loss)", Sign.FORMATS_NUMBERS),
        ("format(loss, '.3f')", Sign.FORMATS_NUMBERS),
        ("x = y[1:3]  # :.3f}", Sign.NOTHING),
        ("loss \\\n .backward()", Sign.CALLS_BACKWARD),
        ("# loss.backward()\n'''p.grad, float('nan'), dropout'''", Sign.NOTHING),
        ("torch.log(1 - y.pow(2) + eps)", Sign.UNDOES_TANH),
        ("x = 1. - y ** 2", Sign.UNDOES_TANH),
        ("x = 1 - y*y", Sign.UNDOES_TANH),
        ("x = 1 - y * z", Sign.NOTHING),
        ("from torch import atanh", Sign.UNDOES_TANH),
        ("from torch import optim", Sign.NAMES_OPTIMIZERS),
        ("make('torch.optim.SGD')", Sign.NAMES_OPTIMIZERS),
        ("lr_scheduler.OneCycleLR(o)", Sign.CYCLES_MOMENTUM),
        ("torch.isnan(loss)", Sign.LOOKS_FOR_NAN),
        ("bad = loss != loss", Sign.LOOKS_FOR_NAN),
        ("x[i] == x[i]", Sign.LOOKS_FOR_NAN),
        ("x[i] == x[j] or 'a' == 'a'", Sign.NOTHING),
        ("float('NaN')", Sign.LOOKS_FOR_NAN),
        ("float('-inf')", Sign.NAMES_INFINITY),
        ("from math import inf", Sign.NAMES_INFINITY),
        ("inf = 1e9", Sign.NOTHING),
        ("net.train(False)", Sign.CALLS_EVAL | Sign.DEPENDS_ON_MODE),
        ("net.train(phase == 'train')", Sign.CALLS_EVAL | Sign.DEPENDS_ON_MODE),
        ("net.train(mode=True)", Sign.DEPENDS_ON_MODE),
        ("net.training = flag", Sign.CALLS_EVAL | Sign.DEPENDS_ON_MODE),
        ("print(args.train)", Sign.NOTHING),
        ("import torchvision.models as m", Sign.DEPENDS_ON_MODE),
        ("from torchvision import models", Sign.DEPENDS_ON_MODE),
        ("nn.Dropout2d(0.1)", Sign.DEPENDS_ON_MODE),
        ("net.eval()", Sign.CALLS_EVAL | Sign.DEPENDS_ON_MODE),
    ],
)
def test_a_statement_shows(text: str, sign: Sign) -> None:
    assert signs_in(ast.parse(text)) == sign


def test_a_constructor_sets_a_mode() -> None:
    text = "class Net(nn.Module):\n    def __init__(self):\n        self.bn.eval()\n"
    assert signs_in(ast.parse(text)) & Sign.SETS_MODE_WHEN_BUILT
    assert not signs_in(ast.parse(text.replace("__init__", "reset"))) & Sign.SETS_MODE_WHEN_BUILT


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ("def __init__(self):\n  self.freeze()\n def freeze(self):\n  self.bn.eval()", True),
        ("def train(self, mode=True):\n  super().train(mode)\n  self.bn.eval()", True),
        ("def forward(self, x): ...\n def train(self):\n  self.training = True", True),
        ("def train(self):\n  for x in self.loader:\n   self.model.train()", False),
        ("def train(self, epoch):\n  return epoch", False),
        ("def freeze(self):\n  self.bn.eval()", False),
    ],
)
def test_a_class_sets_modes_when_it_is_built(text: str, sets: bool) -> None:
    found = signs_in(ast.parse(f"class Net(nn.Module):\n {text}\n"))
    assert bool(found & Sign.SETS_MODE_WHEN_BUILT) is sets


def test_the_names_that_files_take_from_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from b import (one, two as second,  # three\n  four)\n")
    (tmp_path / "b.py").write_text("from torch import nn\nfrom . import five\nfrom c import *\n")
    names = {"one", "two", "second", "four", "five", "*"}
    assert imported_names(discover([tmp_path])) == names
