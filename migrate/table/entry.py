"""One row of the table: a torch API and what MindSpore has for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from migrate.table.signature import Signature, parse_signature

KINDS = (
    "class",
    "function",
    "method",
    "attribute",
    "constant",
    "dtype",
    "context",
    "decorator",
    "module",
)
# From the least to the most work for the user; analyze sorts and filters by this order.
STATUSES = ("supported", "rewritten", "composed", "risky", "missing")
PLATFORMS = ("Ascend", "GPU", "CPU")
MODES = ("pynative", "graph")


@dataclass(frozen=True, slots=True)
class Overload:
    """How one form of a call is carried over. Most APIs have exactly one form."""

    params: str | None = None  # torch's parameter list; None: not callable, or any arguments
    mindspore: str = ""  # dotted target that takes the (renamed) arguments
    mint: str = ""  # the same API in mindspore.mint, same argument names as torch
    emit: str = ""  # or: an expression with {param} holes
    helper: str = ""  # or: a piece of migrate/port/helpers with torch's own signature
    rename: Mapping[str, str] = field(
        default_factory=dict
    )  # torch parameter -> MindSpore parameter
    pin: Mapping[str, str] = field(
        default_factory=dict
    )  # MindSpore parameter -> source, unless given
    drop: tuple[str, ...] = ()  # torch parameters without effect here
    refuse: Mapping[str, str] = field(
        default_factory=dict
    )  # torch parameter -> why not, unless default
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # constant -> constant
    rules: tuple[str, ...] = ()  # computed changes, see migrate/port/rules
    returns: str = ""  # what a call gives, for inference: Tensor, tuple[Tensor], int, Size, ...

    @property
    def signature(self) -> Signature | None:
        return None if self.params is None else parse_signature(self.params)

    @property
    def portable(self) -> bool:
        return bool(self.mindspore or self.emit or self.helper or self.rules)

    @property
    def plain(self) -> bool:
        """Nothing but the name changes."""
        return bool(self.mindspore) and not (
            self.rename or self.pin or self.values or self.rules or self.emit or self.helper
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """Everything the table states about one torch name."""

    torch: str
    kind: str
    overloads: tuple[Overload, ...]
    status: str
    note: str = ""  # the difference that matters, in one line
    way: str = ""  # the way round where there is no counterpart
    feature: str = ""  # groups rows in analyze's feature table: init, optimizer, data, amp, ...
    since: str = ""  # first MindSpore version that has the target
    platforms: tuple[str, ...] = PLATFORMS
    modes: tuple[str, ...] = MODES
    reference: str = ""
    inplace: bool = False  # changes its receiver or first argument
    examples: tuple[tuple[str, str], ...] = ()  # (before, after)

    @property
    def main(self) -> Overload:
        return self.overloads[0]

    @property
    def target(self) -> str:
        """The MindSpore side in a few words, for tables that people read."""
        main = self.main
        return main.mindspore or main.emit or (f"helper {main.helper}" if main.helper else "")

    def returns(self) -> str:
        """The common result of all forms; empty when unknown or when the forms disagree."""
        kinds = {overload.returns for overload in self.overloads}
        return kinds.pop() if len(kinds) == 1 else ""
