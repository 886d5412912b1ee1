"""How `analyze` and `port` say how far a program ports: the same words for the same counts."""

from __future__ import annotations

from itertools import groupby

from migrate.analyze.coverage import Assumption, Coverage


def covered(coverage: Coverage) -> str:
    """`190 of 200 uses of torch ported (95%): 150 measured, 40 on assumptions`."""
    if not coverage.uses:
        return "no use of torch"
    # 100% only when it is true: 999 of 1000 is not all of it.
    percent = int(100 * coverage.share) if coverage.open else 100
    text = f"{coverage.ported:,} of {coverage.uses:,} uses of torch ported ({percent}%)"
    if coverage.assumed:
        text += (
            f": {coverage.measured:,} by rows measured against torch, "
            f"{coverage.assumed:,} on assumptions"
        )
    elif coverage.ported:
        text += ", all by rows measured against torch"
    others = len(coverage.assumptions) - coverage.assumed
    if others:
        text += f"; {others:,} assumption{'s' * (others != 1)} about types and callers out of view"
    return text


def open_items(number: int) -> str:
    if not number:
        return "no open items"
    return f"{number:,} open item{'s' * (number != 1)}"


_PLACES = 3  # of an assumption, in the short list
_NAMES = 12  # of rows


def named_assumptions(coverage: Coverage) -> str:
    """What the port takes for granted, in short: rows by name, facts about the program by place."""
    if not coverage.assumptions:
        return ""
    lines = ["Taken for granted (--assumptions: every line, and how to check it)"]
    for what, found in groupby(sorted(coverage.assumptions, key=_what), _what):
        group = list(found)
        names = list(dict.fromkeys(one.api for one in group if one.api))
        named = names or list(dict.fromkeys(one.where for one in group))
        lines.append(f"  {_of_rows(what)}: {_shortened(named, _NAMES if names else _PLACES)}")
    return "\n".join(lines) + "\n"


def _of_rows(what: str) -> str:
    return what.replace("its row", "the row", 1)


def _shortened(items: list[str], most: int) -> str:
    rest = len(items) - most
    return ", ".join(items[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def _what(one: Assumption) -> str:
    return one.what


def listed_assumptions(coverage: Coverage) -> str:
    """Each assumption once with its lines, then the way to check it."""
    if not coverage.assumptions:
        return "No assumptions.\n"
    lines = ["Assumptions"]
    for (api, what, check), found in groupby(sorted(coverage.assumptions, key=_key), _key):
        places = list(dict.fromkeys(one.where for one in found))
        lines += [f"  {api + ': ' if api else ''}{what}", f"    at {', '.join(places)}"]
        lines += [f"    check: {check}"]
    return "\n".join(lines) + "\n"


def _key(one: Assumption) -> tuple[str, str, str]:
    return one.api, one.what, one.check
