"""Which public names each MindSpore release has, for checking what the porter writes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from migrate.resources import folder
from migrate.table.entry import VERSIONS


class MindSporeNames:
    """The names of one release. Only modules whose names are known are judged."""

    def __init__(self, version: str, lists: Path | None = None) -> None:
        self.version = version
        path = lists or folder("mappings") / "mindspore_names.json"
        self._names, self._modules = _read(path, version)

    def has(self, dotted: str) -> bool:
        """False only where a module is known and has no such name; a class's members are not
        judged, since it may inherit them.
        """
        parts = dotted.split(".")
        for end in range(2, len(parts) + 1):
            parent, name = ".".join(parts[: end - 1]), ".".join(parts[:end])
            if parent not in self._modules:
                return True
            if name not in self._names and name not in self._modules:
                return False
        return True

    def lists(self, dotted: str) -> bool:
        """Whether the release is known to have this very name."""
        return dotted in self._names


@cache
def _read(path: Path, version: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names of a release, and the modules that they are in."""
    names: set[str] = set()
    for release, change in json.loads(path.read_text(encoding="utf-8")).items():
        if VERSIONS.index(release) <= VERSIONS.index(version):
            names |= set(change["added"])
            names -= set(change["removed"])
    parents = {name.rpartition(".")[0] for name in names} - {""}
    return frozenset(names), frozenset(name for name in parents if _is_module(name))


def _is_module(dotted: str) -> bool:
    """By MindSpore's own habit: classes are capitalised, modules are not."""
    return dotted.rpartition(".")[2].islower()
