"""The table as it is for an older MindSpore: forms that need a later one are left out."""

from __future__ import annotations

from dataclasses import replace

from migrate.table.entry import VERSIONS, Entry, Overload, version_key

__all__ = ["VERSIONS", "at_version"]


def at_version(entry: Entry, version: str) -> Entry:
    """The row for one release of MindSpore.

    Of several forms those remain that the release has; a row of which none remains is missing,
    and says since when it is not.
    """
    if all(_holds(form, version) and not form.mint_facts for form in entry.overloads):
        return entry
    kept = tuple(_with_mint(form, version) for form in entry.overloads if _holds(form, version))
    if kept:
        return replace(entry, overloads=kept)
    return replace(
        entry,
        overloads=tuple(Overload(form.params, returns=form.returns) for form in entry.overloads),
        status="missing",
        note=f"{entry.target} needs MindSpore {entry.since}; MindSpore {version} does not have it",
        way=f"use MindSpore {entry.since} or later" + (f", or {entry.way}" if entry.way else ""),
        examples=(),
    )


def _holds(form: Overload, version: str) -> bool:
    return version_key(form.since) <= version_key(version)


def _with_mint(form: Overload, version: str) -> Overload:
    """mint's name may have come later than the form itself, which then does without."""
    if version_key(form.mint_facts.get("since", "")) <= version_key(version):
        return form
    return replace(form, mint="", mint_facts={})
