"""Examples of rows and rules as small programs: what stands around them, and how they compare."""

from __future__ import annotations

import ast
import textwrap

IMPORTS = """\
import functools

import einops
import einops.layers.torch
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import torchvision
from torch.optim import lr_scheduler
from torchvision import transforms
from torchvision.transforms import v2
"""
# What everyone expects these names to be.
PARAMETERS = (
    "x: torch.Tensor",
    "y: torch.Tensor",
    "w: nn.Parameter",
    "index: torch.Tensor",
    "mask: torch.Tensor",
    "mu: torch.Tensor",
    "sigma: torch.Tensor",
    "lengths: torch.Tensor",
    "parts: list[torch.Tensor]",
    "grads: list[torch.Tensor]",
    "m: nn.Module",
    "model: nn.Module",
    "head: nn.Module",
    "block: nn.Module",
    "optimizer: optim.Optimizer",
    "scheduler: lr_scheduler.LRScheduler",
    "k",
    "p",
    "dim",
    "size",
    "params",
    "layers",
    "data",
    "f",
    "hook",
    "main",
    "state",
    "warm_up",
    "url",
)
NAME = "example"


def program(before: str) -> str:
    """The example in a method of a Module, where every name means what everyone expects.

    The method gives its tensors back: one that does not may only be there to change them.
    """
    body = textwrap.indent(f"{before}\nreturn url, x, y, w, index, mask", " " * 8)
    parameters = ", ".join(["self", *PARAMETERS])
    return f"{IMPORTS}\n\nclass Net(nn.Module):\n    def {NAME}({parameters}):\n{body}\n"


def body_of(text: str) -> list[ast.stmt]:
    """The statements of the example in a ported program."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == NAME:
            return node.body[:-1]
    raise AssertionError("the ported program lost its function")


def source_of(statements: list[ast.stmt]) -> str:
    """Statements in one settled spelling: quotes, spaces and parentheses do not count."""
    return ast.unparse(ast.Module(body=statements, type_ignores=[]))


def settled(text: str) -> str:
    return source_of(ast.parse(textwrap.dedent(text)).body)
