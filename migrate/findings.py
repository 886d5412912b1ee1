"""What a person should know about one place: where it is, what was found and what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from migrate.printable import printable

# SARIF's levels, from the most to the least urgent.
SEVERITIES = ("error", "warning", "note")


class Rule(NamedTuple):
    """What a code stands for; codes are stable, so that people can filter and suppress by them."""

    name: str
    summary: str
    severity: str


CODES: dict[str, Rule] = {
    # MS1xx: what was asked for
    "MS101": Rule("no-such-path", "A path does not exist.", "error"),
    "MS102": Rule("no-python", "A directory holds no Python source.", "error"),
    "MS103": Rule("not-python", "A file is not Python source.", "error"),
    # MS2xx: what could not be read
    "MS201": Rule("unreadable", "The system refused to read a file or directory.", "error"),
    "MS202": Rule("too-large", "A file is too large to be source that a person wrote.", "error"),
    "MS203": Rule("symlink-loop", "A symbolic link leads back to itself.", "warning"),
    "MS204": Rule("encoding", "A file is not in the encoding that it declares.", "error"),
    "MS205": Rule("syntax-error", "A file is not valid Python.", "error"),
    "MS206": Rule("python-2", "A file is Python 2 source.", "error"),
    "MS207": Rule("bad-notebook", "A notebook is damaged, or not written in Python.", "error"),
    "MS208": Rule("too-deep", "An expression is nested too deeply to be parsed.", "error"),
    "MS209": Rule(
        "internal-error", "An internal error stopped ms-migrate from reading a file.", "error"
    ),
    "MS210": Rule("link-out", "A link leads out of the tree and is not followed.", "warning"),
    "MS211": Rule("newer-python", "A file uses syntax of a newer Python.", "error"),
    "MS212": Rule("budget-spent", "A file takes too many steps to interpret.", "error"),
    # MS3xx: torch APIs
    "MS301": Rule("missing-api", "MindSpore has no counterpart for a torch API.", "error"),
    "MS302": Rule("risky-api", "The MindSpore counterpart may behave differently.", "warning"),
    "MS303": Rule("unlisted-api", "The mapping table does not list a torch API.", "warning"),
    "MS304": Rule("device", "The counterpart does not run on the chosen device.", "error"),
    "MS305": Rule("mode", "The counterpart does not run in the chosen execution mode.", "error"),
    "MS306": Rule("refused-argument", "An argument has no MindSpore counterpart.", "error"),
    "MS307": Rule("unknown-receiver", "Tensor method on a value of unknown type.", "note"),
    "MS308": Rule("better-operator", "A simpler operator serves this use.", "note"),
    "MS309": Rule("bad-call", "A call does not fit the API's own signature.", "error"),
    "MS310": Rule("ambiguous", "A type is not known well enough to choose.", "error"),
    "MS311": Rule("unbound-call", "How an API is called is only known at run time.", "error"),
    "MS312": Rule("not-rewritten", "A file could not be rewritten safely.", "error"),
    "MS314": Rule(
        "set-after-made", "A layer's setting is changed too late for MindSpore.", "error"
    ),
    "MS313": Rule("computed-twice", "An argument would be computed twice.", "error"),
    "MS315": Rule("torch-package", "A package that is built on torch is imported.", "error"),
    "MS316": Rule("left-behind", "A file that uses torch is imported but not ported.", "warning"),
    "MS317": Rule("torch-in-text", "Text names a torch API that is looked up later.", "warning"),
    "MS318": Rule("device-some", "The device refuses some ways to call the counterpart.", "note"),
    # MS4xx: what the code does around the APIs
    "MS401": Rule(
        "tensor-condition", "Python control flow depends on a tensor's value.", "warning"
    ),
    "MS402": Rule("graph-syntax", "Graph mode cannot compile a statement.", "warning"),
    "MS403": Rule("in-place", "A tensor is changed in place.", "note"),
    "MS404": Rule(
        "autograd-function", "A custom autograd function defines its gradient.", "warning"
    ),
    "MS405": Rule("hook", "A hook observes or changes a module's values.", "warning"),
    "MS406": Rule("graph-container", "Graph mode cannot compile a container's method.", "warning"),
    "MS407": Rule("frozen-value", "Graph mode computes a value once and keeps it.", "warning"),
    "MS408": Rule("training-step", "A training step could not be converted.", "error"),
    "MS409": Rule("training-loop", "A training loop does more than Model.train.", "note"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement about one place. Line and column count from 1; 0 says that there is none."""

    path: Path
    line: int
    column: int
    code: str
    message: str
    next_step: str = ""
    severity: str = "error"
    cell: int = 0  # for a notebook: which cell, counted from 1; the line is then the cell's
    api: str = ""  # the torch name it is about, where there is one

    @property
    def where(self) -> str:
        """The place as editors and terminals understand it: path:line:column."""
        place = printable(str(self.path), keep="")
        if self.cell:
            return f"{place}: cell {self.cell}, line {self.line}"
        if self.line:
            place += f":{self.line}"
            if self.column:
                place += f":{self.column}"
        return place

    def __str__(self) -> str:
        step = f"; {self.next_step}" if self.next_step else ""
        return f"{self.where}: {self.message}{step} [{self.code}]"


def make_finding(
    code: str, path: Path, message: str, next_step: str = "", *, line: int = 0, column: int = 0
) -> Finding:
    """A finding with the severity that its code has."""
    return Finding(path, line, column, code, message, next_step, CODES[code].severity)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By place, so that two runs over the same tree say the same thing in the same order."""
    return sorted(
        set(findings),
        key=lambda f: (str(f.path), f.cell, f.line, f.column, f.code, f.message, f.next_step),
    )


_CHOSEN = {
    "torch.nn": "'ReLU': nn.ReLU",
    "torch.nn.functional": "'relu': F.relu",
    "torch.nn.init": "'zeros_': init.zeros_",
    "torch.optim": "'SGD': optim.SGD",
    "torch.optim.lr_scheduler": "'StepLR': lr_scheduler.StepLR",
    "torchvision.transforms": "'AutoAugment': transforms.AutoAugment",
    "torchvision.datasets": "'CIFAR10': datasets.CIFAR10",
}


def chosen_step(api: str) -> str:
    """What to do where a member of a module is chosen by a string."""
    if api.startswith("torchvision.models"):
        return "add --with-torchvision: the models are ported along, and chosen from"
    # The longest prefix says which of its members are chosen by name as a rule.
    examples = [text for prefix, text in _CHOSEN.items() if f"{api}.".startswith(f"{prefix}.")]
    return f"list what it can be: {{{(examples or [_CHOSEN['torch.nn']])[-1]}, ...}}[name]"
