"""Where a row runs: the devices that all the MindSpore names in it have.

MindSpore's docstrings say on which devices an operator runs; platforms.toml keeps what they say of
the names that rows use, once, where it is not all devices. A row states `platforms` only where it
knows better.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from migrate.table.entry import PLATFORMS, Overload

_ROOTS = {
    "mint": "mindspore.mint",
    "mnp": "mindspore.numpy",
    "nn": "mindspore.nn",
    "ops": "mindspore.ops",
}
_PATH = re.compile(r"(?<![\w.{}])(\w+)((?:\.\w+)+)")


@dataclass(frozen=True, slots=True)
class Devices:
    """platforms.toml: MindSpore names and helpers that do not run everywhere."""

    limited: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Devices:
        return cls(
            {
                name: frozenset(devices.split())
                for section in ("names", "helpers")
                for devices, names in document.get(section, {}).items()
                for name in names
            }
        )

    def of(self, forms: Iterable[Overload]) -> tuple[str, ...]:
        """The devices on which every form runs, in the usual order."""
        found = set(PLATFORMS)
        for form in forms:
            for name in written_names(form):
                found &= self.limited.get(name, found)
        return tuple(device for device in PLATFORMS if device in found)


def written_names(form: Overload) -> Iterator[str]:
    """The MindSpore names and helpers of a form, as platforms.toml spells them."""
    if form.mindspore:
        yield form.mindspore
    if form.helper:
        yield form.helper
    for text in (form.emit, form.statement):
        for root, rest in _PATH.findall(text):
            yield rest[1:] if root == "helpers" else _ROOTS.get(root, root) + rest
        yield from (f"mindspore.Tensor.{name}" for name in re.findall(r"\{self\}\.(\w+)\(", text))
