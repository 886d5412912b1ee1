"""Spellings that must not change what a port means, each as a check of one module."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from migrate.table import Table
from tests.metamorphic.meaning import merged, port_meaning, without_suffix
from tests.metamorphic.variants import joined, reformatted, renamed_locals, split, squeezed

Check = Callable[[str, Path, Table], str | None]  # the difference; None where it does not apply
MAIN, HELPER = "module.py", "moved_part.py"


def _same_file(variant: Callable[[str], str], suffix: str = "") -> Check:
    def check(text: str, folder: Path, table: Table) -> str:
        before = port_meaning(folder / "before", {MAIN: text}, table)[MAIN]
        after = port_meaning(folder / "after", {MAIN: variant(text)}, table)[MAIN]
        return before.difference(without_suffix(after, suffix) if suffix else after)

    return check


def _two_files(only_functions: bool) -> Check:
    """Read backwards it is the merging of two files into one."""

    def check(text: str, folder: Path, table: Table) -> str | None:
        parts = split(text, HELPER.removesuffix(".py"), only_functions)
        if parts is None:
            return None
        before = port_meaning(folder / "before", {MAIN: text}, table)[MAIN]
        files = {MAIN: parts.main, HELPER: parts.helper}
        after = port_meaning(folder / "after", files, table)
        return merged([before]).difference(merged(after.values()))

    return check


# A module of a program's own beside a real one: a layer, a helper and a training step.
BESIDE = """\
import torch
from torch import nn
import torch.nn.functional as F


class BesideNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.beside_fc = nn.Linear(4, 2)

    def forward(self, x):
        x = x.view(x.size(0), -1)
        return F.relu(self.beside_fc(x))


def beside_train(model: BesideNet, batches, optimizer: torch.optim.Optimizer):
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
"""


def _merge(text: str, folder: Path, table: Table) -> str | None:
    """Two modules of one program, written into one file."""
    both = joined(text, BESIDE)
    if both is None:
        return None
    before = port_meaning(folder / "before", {MAIN: text, HELPER: BESIDE}, table)
    after = port_meaning(folder / "after", {MAIN: both}, table)
    return merged(before.values()).difference(merged(after.values()))


RELATIONS: dict[str, Check] = {
    "reformat": _same_file(reformatted),
    "squeeze": _same_file(squeezed),
    "rename_locals": _same_file(renamed_locals, "_local"),
    "split_module": _two_files(only_functions=False),
    "move_functions": _two_files(only_functions=True),
    "merge_modules": _merge,
}
