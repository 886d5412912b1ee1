"""Find the declared passes by importing the modules of the stages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from migrate.pipeline.declare import REGISTERED, Pass
from migrate.pipeline.order import ordered

# Where passes are declared.
_STAGES = ("syntax", "style", "lower", "plan", "rewrite", "graph_mode", "tidy", "emit")
_TEMPLATES = "helpers"  # sources of emitted helpers, which import MindSpore


@cache
def all_passes() -> tuple[Pass, ...]:
    """Every pass, in the order in which they run."""
    root = Path(__file__).parent.parent
    for stage in _STAGES:
        for path in sorted((root / stage).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            if _TEMPLATES not in parts and parts[-1] != "__init__":
                import_module(".".join(("migrate", *parts)))
    return tuple(ordered(REGISTERED.values()))


@cache
def passes_of(unit: str, *phases: str) -> tuple[Pass, ...]:
    """Those with a unit, in their order; of certain phases, or of all."""
    return tuple(
        one for one in all_passes() if one.unit == unit and (not phases or one.phase in phases)
    )
