"""One row of the table: a torch API and what MindSpore has for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

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
# MindSpore releases that rows hold for; a row that needs a later one than the first says since.
VERSIONS = ("2.7", "2.8", "2.9", "2.10")


def version_key(version: str) -> int:
    """Order of releases; no release at all comes first."""
    return VERSIONS.index(version) if version else -1


# Rules that change a call only where the code shows what it is given: whole numbers.
_OF_KNOWN_VALUES = frozenset({"counted_input"})


@dataclass(frozen=True, slots=True)
class Overload:
    """How one form of a call is carried over. Most APIs have exactly one form."""

    params: str | None = None  # torch's parameter list; None: not callable, or any arguments
    mindspore: str = ""  # dotted target that takes the (renamed) arguments
    mint: str = ""  # the same API in mindspore.mint
    mint_facts: Mapping[str, Any] = field(
        default_factory=dict
    )  # how mint's parameters differ from torch's: rename, pin, drop, refuse, values, since
    emit: str = ""  # or: an expression with {param} holes
    helper: str = ""  # or: a piece of migrate/emit/helpers with torch's own signature
    within: tuple[str, ...] = ()  # `mindspore` only in lists given to these, else the helper
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
    rules: tuple[str, ...] = ()  # computed changes, see migrate/rewrite/rules
    statement: str = ""  # the form of a call that stands alone: an assignment with {param} holes
    returns: str = ""  # what a call gives, for inference: Tensor, tuple[Tensor], int, Size, ...
    since: str = ""  # first MindSpore version that has all it needs, where later than the oldest

    @property
    def signature(self) -> Signature | None:
        return None if self.params is None else parse_signature(self.params)

    @property
    def portable(self) -> bool:
        return bool(self.mindspore or self.emit or self.helper or self.rules)

    @property
    def plain(self) -> bool:
        """Nothing but the name changes, whatever is given."""
        changing = set(self.rules) - _OF_KNOWN_VALUES
        return bool(self.mindspore) and not (
            self.rename or self.pin or self.values or changing or self.emit or self.helper
        )

    @property
    def plain_with_elements(self) -> bool:
        """The same of a tensor that is not empty."""
        if "some_elements" not in self.rules:
            return self.plain
        rules = tuple(rule for rule in self.rules if rule != "some_elements")
        return replace(self, helper="", rules=rules).plain


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
    platforms: tuple[str, ...] = PLATFORMS
    modes: tuple[str, ...] = MODES
    reference: str = ""
    inplace: bool = False  # changes its receiver or first argument
    # Parameters that torch takes nothing but tensors for; `*x`: the items of x. None: `input` of
    # a function.
    tensors: tuple[str, ...] | None = None
    assign: str = ""  # an attribute's new value: an expression with {self} and {value}
    examples: tuple[tuple[str, str], ...] = ()  # (before, after)

    @property
    def main(self) -> Overload:
        return self.overloads[0]

    @property
    def tensor_parameters(self) -> tuple[str, ...]:
        if self.tensors is not None:
            return self.tensors
        signature = self.main.signature if self.kind == "function" else None
        first = signature.parameters[0].name if signature and signature.parameters else ""
        return ("input",) if first == "input" else ()

    @property
    def target(self) -> str:
        """The MindSpore side in a few words, for tables that people read."""
        main = self.main
        return main.mindspore or main.emit or (f"helper {main.helper}" if main.helper else "")

    @property
    def written_target(self) -> str:
        """The target without the holes of its template: `{self}.shape` is `x.shape`."""
        return without_holes(self.target)

    @property
    def since(self) -> str:
        """The first MindSpore version in which some form can be written; empty: in all of them."""
        return min((overload.since for overload in self.overloads), key=version_key)

    def returns(self) -> str:
        """The common result of all forms; empty when unknown or when the forms disagree."""
        kinds = {overload.returns for overload in self.overloads}
        return kinds.pop() if len(kinds) == 1 else ""


def without_holes(template: str) -> str:
    """The expression of a row as people write it."""
    return re.sub(r"\{(\w+)\}", lambda m: "x" if m[1] in ("self", "input") else m[1], template)
