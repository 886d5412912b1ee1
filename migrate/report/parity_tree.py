"""The modules as a tree that opens, each with its error forward and backward."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from math import isfinite

from migrate.parity.judge.compare import Comparison


@dataclass
class _Seen:
    """What all calls of a module came to."""

    forward: bool = True
    backward: bool = True
    ratio: float = 0.0
    children: list[str] = field(default_factory=list)


def draw(comparison: Comparison, culprit: str) -> str:
    """A nested list; the way to the culprit is open, and everything else is shut."""
    seen: dict[str, _Seen] = {}
    for layer in comparison.layers:
        found = seen.setdefault(layer.path, _Seen())
        found.forward &= layer.outputs_agree
        found.backward &= all(slope.ok for slope in layer.output_slopes)
        found.ratio = max(found.ratio, layer.worst.ratio)
    for path in comparison.modules:
        if path in seen and path:
            parent = path.rpartition(".")[0]
            while parent and parent not in seen:
                parent = parent.rpartition(".")[0]
            if parent in seen:
                seen[parent].children.append(path)
    if "" not in seen:
        return ""
    return f'<ul class="tree">{_item("", comparison, seen, culprit)}</ul>'


def _item(path: str, comparison: Comparison, seen: dict[str, _Seen], culprit: str) -> str:
    found, module = seen[path], comparison.modules[path]
    wrong = [w for w, ok in (("output", found.forward), ("gradient", found.backward)) if not ok]
    kind = "bad" if wrong else "good"
    ratio = f"{found.ratio:.3g}" if isfinite(found.ratio) else "exact"
    here = ' class="here"' if path == culprit and wrong else ""
    name = path.rpartition(".")[2] or "(model)"
    words = f' <span class="bad">{" and ".join(wrong)}</span>' if wrong else ""
    arguments = module.arguments if len(module.arguments) < 90 else f"{module.arguments[:87]}..."
    line = (
        f'<span class="mark {kind}">{ratio} &times;</span><span{here}><b>{escape(name)}</b> '
        f'<span class="dim">{escape(module.type)}({escape(arguments)})</span>{words}</span>'
    )
    if not found.children:
        return f'<li class="leaf">{line}</li>'
    inner = "".join(_item(child, comparison, seen, culprit) for child in found.children)
    opened = " open" if not path or culprit.startswith(f"{path}.") or culprit == path else ""
    return f"<li><details{opened}><summary>{line}</summary><ul>{inner}</ul></details></li>"
