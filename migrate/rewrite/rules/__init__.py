"""Rules compute what the table's facts cannot. One idea a file.

A rule's examples are its tests and its documentation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from migrate.pipeline.declare import Example, becomes, flags
from migrate.rewrite.calls.call import Call

__all__ = ["Example", "Rule", "all_rules", "becomes", "flags", "rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A named change of one call."""

    name: str
    change: Callable[[Call], None]
    examples: tuple[Example, ...]
    why: str


_registered: dict[str, Rule] = {}


def rule(*examples: Example) -> Callable[[Callable[[Call], None]], Callable[[Call], None]]:
    """Register a function under its own name, with the examples that define it."""

    def register(change: Callable[[Call], None]) -> Callable[[Call], None]:
        why = import_module(change.__module__).__doc__ or ""
        summary = " ".join(why.strip().partition("\n\n")[0].split())
        _registered[change.__name__] = Rule(change.__name__, change, examples, summary)
        return change

    return register


@cache
def all_rules() -> dict[str, Rule]:
    """Every rule, found by walking this package."""
    for module in iter_modules(__path__, f"{__name__}."):
        import_module(module.name)
    return dict(sorted(_registered.items()))
