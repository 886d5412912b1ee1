"""The modules as a tree that opens, each with its error forward and backward."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

from migrate.parity.judge.compare import Comparison

_LONGEST = 90


@dataclass
class Node:
    """A module, what all its calls came to, and the modules in it."""

    name: str
    type: str
    forward: bool = True
    backward: bool = True
    ratio: float = 0.0
    here: bool = False
    opened: bool = False
    children: list[Node] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        sides = (("output", self.forward), ("gradient", self.backward))
        return [word for word, ok in sides if not ok]

    @property
    def noise(self) -> str:
        return f"{self.ratio:.3g}" if isfinite(self.ratio) else "exact"


def tree(comparison: Comparison, culprit: str) -> Node | None:
    """The model; the way to the culprit is open, and everything else is shut."""
    seen: dict[str, Node] = {}
    for layer in comparison.layers:
        module = comparison.modules[layer.path]
        arguments = module.arguments
        short = arguments if len(arguments) < _LONGEST else f"{arguments[: _LONGEST - 3]}..."
        name = layer.path.rpartition(".")[2] or "(model)"
        found = seen.setdefault(layer.path, Node(name, f"{module.type}({short})"))
        found.forward &= layer.outputs_agree
        found.backward &= all(slope.ok for slope in layer.output_slopes)
        found.ratio = max(found.ratio, layer.worst.ratio)
    for path, node in seen.items():
        node.here = path == culprit and bool(node.wrong)
        node.opened = not path or path == culprit or culprit.startswith(f"{path}.")
    for path in comparison.modules:
        if path in seen and path:
            parent = path.rpartition(".")[0]
            while parent and parent not in seen:
                parent = parent.rpartition(".")[0]
            if parent in seen:
                seen[parent].children.append(seen[path])
    return seen.get("")
