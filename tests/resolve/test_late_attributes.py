"""An attribute that is understood only after a method has read it."""

from __future__ import annotations

import textwrap

import pytest

from migrate.project import discover
from migrate.resolve import Resolver
from migrate.table import Table

FORWARD = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.mask = None

        def forward(self, x):
            {first}
            {second}
            return x + self.mask
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("if self.mask is None or self.mask.size(0) != 3: self.mask = torch.ones(3)", "pass"),
        ("n = self.mask.size(0) if self.mask is not None else 0", "self.mask = x.detach()"),
    ],
)
def test_a_read_before_the_write_is_of_a_tensor(tmp_path, first: str, second: str) -> None:
    path = tmp_path / "net.py"
    path.write_text(textwrap.dedent(FORWARD).format(first=first, second=second))
    project = discover([path])
    resolution = Resolver(project, Table()).file(project.files[0])
    assert "torch.Tensor.size" in [usage.api for usage in resolution.usages]
