"""From what a person types to rows of the table: full names, abbreviations, prefixes, slips."""

from __future__ import annotations

from dataclasses import dataclass, field

from migrate.table import Entry, Table

# The names under which everybody imports these modules.
_ABBREVIATIONS = {
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "functional": "torch.nn.functional",
    "init": "torch.nn.init",
    "optim": "torch.optim",
    "lr_scheduler": "torch.optim.lr_scheduler",
    "dist": "torch.distributed",
    "data": "torch.utils.data",
    "amp": "torch.amp",
    "transforms": "torchvision.transforms",
    "T": "torchvision.transforms",
    "TF": "torchvision.transforms.functional",
    "models": "torchvision.models",
    "datasets": "torchvision.datasets",
    "np": "numpy",
}


@dataclass(slots=True)
class Answer:
    """What a query found: one row, a list of rows, or names that look alike."""

    query: str
    entries: list[Entry]
    exact: bool = False  # one row was meant, not a list
    asked: str = ""  # the full name the query stands for, which may be an alias of the row's
    close: list[str] = field(default_factory=list)


def search(table: Table, query: str) -> Answer:
    """Take the query at its word first, and guess only when that finds nothing."""
    words = query.strip().rstrip("*")
    listing = words != query.strip() or words.endswith(".")
    words = words.strip(".()")
    candidates = _full_names(words)
    if not listing:
        for name in candidates:
            entry = table.get(name)
            if entry is not None and entry.kind != "module" and "." in words:
                return Answer(query, [entry], exact=True, asked=name)
    names = list(dict.fromkeys(table.names()))
    found = [] if listing or "." in words else _last_part(names, words)
    if not found:
        found = _below(names, candidates)
    if not found:
        found = _containing(names, words)
    if not found:
        return Answer(query, [], close=_close(names, words))
    entries = [entry for name in sorted(found, key=_order) if (entry := table.get(name))]
    plain = [entry for entry in entries if entry.kind != "module"] or entries
    if len(plain) == 1:
        return Answer(query, plain, exact=True, asked=plain[0].torch)
    return Answer(query, plain)


def _full_names(words: str) -> list[str]:
    """All names that the words may stand for, the likeliest first."""
    first, dot, rest = words.partition(".")
    names = [words]
    if first in _ABBREVIATIONS:
        names.insert(0, _ABBREVIATIONS[first] + dot + rest)
    if first not in ("torch", "torchvision", "numpy"):
        names += [f"torch.{words}", f"torchvision.{words}", f"torch.nn.{words}"]
    return names


def _last_part(names: list[str], words: str) -> list[str]:
    """Rows of that very name in any namespace: relu is in three."""
    ending = f".{words}"
    if exact := [name for name in names if name.endswith(ending)]:
        return exact
    lowered = ending.lower()
    return [name for name in names if name.lower().endswith(lowered)]


def _below(names: list[str], candidates: list[str]) -> list[str]:
    for start in candidates:
        whole = [name for name in names if name.startswith(start + ".")]
        if whole and "." not in start:
            # `torch` alone would list everything that there is: give its direct members.
            return [name for name in whole if name.count(".") == 1]
        if whole:
            return whole
    for start in candidates:
        if "." in start and (found := [name for name in names if name.startswith(start)]):
            return found
    return []


def _containing(names: list[str], words: str) -> list[str]:
    """`batchnorm` finds every BatchNorm; two letters would find half the table."""
    space, _, lowered = words.lower().rpartition(".")
    if len(lowered) < 3:
        return []
    return [
        name
        for name in names
        if lowered in name.rpartition(".")[2].lower()
        and (not space or f".{space}." in f".{name.lower()}")
    ]


def _close(names: list[str], words: str) -> list[str]:
    """Names that are a slip of the keyboard away; case and namespace may be off."""
    from difflib import SequenceMatcher, get_close_matches

    space, _, last = words.lower().rpartition(".")
    by_last: dict[str, list[str]] = {}
    for name in names:
        by_last.setdefault(name.rpartition(".")[2].lower(), []).append(name)
    alike = get_close_matches(last, by_last, n=6, cutoff=0.7)

    def likeness(name: str) -> tuple[float, float]:
        own_space, _, own_last = name.lower().rpartition(".")
        return (
            SequenceMatcher(None, last, own_last).ratio(),
            SequenceMatcher(None, space, own_space).ratio(),
        )

    found = [name for key in alike for name in by_last[key]]
    return sorted(found, key=likeness, reverse=True)[:5]


def _order(name: str) -> tuple[str, str]:
    space, _, last = name.rpartition(".")
    return space.lower(), last.lower()
