"""Packages that are themselves built on torch: porting a program's own files does not port them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

# `torchmetrics`, `torch_scatter`, `efficientnet_pytorch`, `horovod.torch`: the name says it.
_TELLING = re.compile(r"(^|[._])(py)?torch|torch$")
_ANY_WAY = "port the package's own source along, or replace what it does with MindSpore or numpy"


@dataclass(frozen=True, slots=True)
class Package:
    """One package: what it is, and what a program that moves to MindSpore does without it."""

    name: str
    about: str
    way: str
    fine: tuple[str, ...] = ()  # patterns of members that have nothing to do with torch

    def concerns(self, member: str) -> bool:
        return not any(fnmatchcase(member, pattern) for pattern in self.fine)


class Packages:
    """Those that the table names, and those whose own name tells."""

    def __init__(
        self, document: Mapping[str, Mapping[str, Any]], with_rows: Iterable[str] = ()
    ) -> None:
        """`with_rows`: packages that have rows of their own."""
        self._known = {
            name: Package(
                name, facts["about"], facts.get("way", _ANY_WAY), tuple(facts.get("fine", ()))
            )
            for name, facts in document.items()
        }
        # The top-level names whose import makes a file one that concerns torch.
        self.roots = frozenset(name.partition(".")[0] for name in (*self._known, *with_rows))

    def is_listed(self, name: str) -> bool:
        return name in self._known

    def get(self, module: str) -> Package | None:
        """The package behind an imported module: the longest name that is listed, or a guess by
        its name."""
        name = module
        while name:
            if name in self._known:
                return self._known[name]
            name = name.rpartition(".")[0]
        if _TELLING.search(module):
            return Package(module, "a package for PyTorch", _ANY_WAY)
        return None
