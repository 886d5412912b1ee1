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
    entries = list({entry.torch: entry for entry in table}.values())
    found = [] if listing or "." in words else _last_part(entries, words)
    if not found:
        found = _below(entries, candidates)
    if not found:
        found = _containing(entries, words)
    if len(found) == 1:
        return Answer(query, found, exact=True, asked=found[0].torch)
    return Answer(query, sorted(found, key=_order), close=[] if found else _close(entries, words))


def _full_names(words: str) -> list[str]:
    """All names that the words may stand for, the likeliest first."""
    first, dot, rest = words.partition(".")
    names = [words]
    if first in _ABBREVIATIONS:
        names.insert(0, _ABBREVIATIONS[first] + dot + rest)
    if first not in ("torch", "torchvision", "numpy"):
        names += [f"torch.{words}", f"torchvision.{words}", f"torch.nn.{words}"]
    return names


def _last_part(entries: list[Entry], words: str) -> list[Entry]:
    """Rows of that very name in any namespace: relu is in three."""
    exact = [e for e in entries if e.torch.rpartition(".")[2] == words and e.kind != "module"]
    if exact:
        return exact
    lowered = words.lower()
    return [e for e in entries if e.torch.rpartition(".")[2].lower() == lowered]


def _below(entries: list[Entry], candidates: list[str]) -> list[Entry]:
    for name in candidates:
        whole = [e for e in entries if e.torch.startswith(name + ".")]
        if whole and name.count(".") == 0:
            # `torch` alone would list everything that there is: give its direct members.
            return [e for e in whole if e.torch.count(".") == 1]
        if whole:
            return whole
    for name in candidates:
        if "." in name and (started := [e for e in entries if e.torch.startswith(name)]):
            return started
    return []


def _containing(entries: list[Entry], words: str) -> list[Entry]:
    """`batchnorm` finds every BatchNorm; two letters would find half the table."""
    space, _, lowered = words.lower().rpartition(".")
    if len(lowered) < 3:
        return []
    inside = {
        entry.torch: entry
        for entry in entries
        if lowered in entry.torch.rpartition(".")[2].lower()
        and (not space or space in entry.torch.lower())
    }
    return list(inside.values())


def _close(entries: list[Entry], words: str) -> list[str]:
    """Names that a slip of the keyboard away from the query; case and namespace may be off."""
    from difflib import SequenceMatcher, get_close_matches

    space, _, last = words.lower().rpartition(".")
    by_last: dict[str, list[str]] = {}
    for entry in entries:
        by_last.setdefault(entry.torch.rpartition(".")[2].lower(), []).append(entry.torch)
    alike = get_close_matches(last, by_last, n=6, cutoff=0.7)

    def likeness(name: str) -> tuple[float, float]:
        own_space, _, own_last = name.lower().rpartition(".")
        return (
            SequenceMatcher(None, last, own_last).ratio(),
            SequenceMatcher(None, space, own_space).ratio(),
        )

    names = [name for key in alike for name in by_last[key]]
    return sorted(names, key=likeness, reverse=True)[:5]


def _order(entry: Entry) -> tuple[str, str]:
    space, _, last = entry.torch.rpartition(".")
    return space.lower(), last.lower()
