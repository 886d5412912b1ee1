"""How a pass is declared: in a module of its own, whose file name is the pass's name.

    @declare(
        phase="lower",
        unit="lowering",
        after={"continue_to_if": "statements that it moves into a branch bind names there"},
        examples=[becomes(before, after)],
    )
    def init_variables(function): ...

The module's docstring says why the pass exists. `after` names the passes that must run before this
one, each with its reason. The examples are its tests and its documentation.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

# What a pass is handed, and so how the driver runs it.
UNITS = {
    "source": "the text of a file before it is parsed",
    "program": "the source of a file and what is known of it, before anything is rewritten",
    "lowering": "each function that Graph mode compiles, as typed source",
    "module": "the libcst tree of a file",
    "node": "the nodes of the one walk over a file, by their kinds",
    "text": "the text of a ported file",
}
# Facts that a pass may ask for, and the phase that provides them.
FACTS = {
    "usages": ("resolve", "uses of torch's API, with their arguments bound"),
    "types": ("resolve", "the abstract value of each expression"),
    "classes": ("resolve", "the classes of the project and their bases"),
    "definitions": ("flow", "which definitions of a name reach a read of it"),
    "aliases": ("flow", "which names may hold the same tensor"),
    "effects": ("flow", "which parameters a function mutates"),
    "gradients": ("flow", "which values carry gradients"),
    "compiled": ("flow", "which functions Graph mode compiles"),
    "steps": ("plan", "the training steps of the file"),
    "imports": ("rewrite", "the names that the ported file imports"),
}

Run = TypeVar("Run", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Example:
    """Source before and after. `after` is empty where the code is left with a finding."""

    before: str
    after: str = ""
    reason: str = ""  # part of the finding's message


@dataclass(frozen=True, slots=True)
class Pass:
    """One step of the pipeline."""

    name: str
    phase: str
    unit: str
    run: Callable[..., Any]
    why: str
    needs: tuple[str, ...] = ()
    after: Mapping[str, str] = field(default_factory=dict)  # name -> the reason
    examples: tuple[Example, ...] = ()
    module: str = ""


REGISTERED: dict[str, Pass] = {}


def becomes(before: str, after: str) -> Example:
    return Example(_plain(before), _plain(after))


def same(before: str) -> Example:
    """Code that the pass must leave as it is."""
    return Example(_plain(before), _plain(before))


def flags(before: str, reason: str) -> Example:
    return Example(_plain(before), reason=reason)


def declare(
    *,
    phase: str,
    unit: str,
    needs: Sequence[str] = (),
    after: Mapping[str, str] | None = None,
    examples: Sequence[Example] = (),
) -> Callable[[Run], Run]:
    """Register a function or class as the pass of its module."""

    def register(run: Run) -> Run:
        module = sys.modules[run.__module__]
        name = run.__module__.rpartition(".")[2]
        if name in REGISTERED and REGISTERED[name].module != run.__module__:
            raise ValueError(f"two passes are called {name}")
        why = " ".join((module.__doc__ or "").strip().partition("\n\n")[0].split())
        REGISTERED[name] = Pass(
            name,
            phase,
            unit,
            run,
            why,
            tuple(needs),
            dict(after or {}),
            tuple(examples),
            run.__module__,
        )
        return run

    return register


def _plain(text: str) -> str:
    return textwrap.dedent(text).strip("\n")
