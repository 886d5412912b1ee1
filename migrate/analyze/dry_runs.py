"""What the dry runs of a row say of every call of it, and what of some of its calls only.

A row is run with several samples. Where the Ascend backend refuses all of them, each use is a
finding. Where it takes some, ordinary calls among them, a use is not accused: it gets a note.
"""

from __future__ import annotations

from dataclasses import dataclass

from migrate.resources import folder
from migrate.table import Entry
from migrate.table.evidence import dry_run

# Verdicts of `verify --device Ascend-dry-run` that a person must act on.
_REFUSED = ("no kernel", "dtype refused", "host CPU")
# Whatever the samples were: other arguments may do, as may other sizes for an error of its own.
_BY_ARGUMENTS = "refused"
_STAGES = {"forward": "pynative", "gradient": "gradient", "graph": "graph"}


@dataclass(frozen=True)
class Opinion:
    """Of a row, whatever the arguments: why no call runs, or why some calls do not."""

    problem: str = ""
    note: str = ""


def opinion(entry: Entry, mode: str = "both") -> Opinion | None:
    """What the Ascend backend says of the counterpart; None where it was not asked."""
    dry = dry_run(entry.torch, folder("mappings"))
    if not dry:
        return None
    said = str(dry.get("first") or dry["verdict"])
    stage = _STAGES.get(said.partition(":")[0], "")
    if stage == "graph" and mode == "pynative":
        return Opinion()
    verdict = dry["verdict"]
    # An error of the program, not of a kernel, counts where compiling it is what fails.
    counts = verdict in _REFUSED or (verdict == "fails" and stage == "graph")
    by_arguments = verdict == _BY_ARGUMENTS or (verdict == "fails" and not counts)
    if not counts and not by_arguments:
        return Opinion()
    about = f"{entry.target or entry.torch} on Ascend, in dry run"
    taken, tried = _counts(dry.get(stage, ""))
    if by_arguments or (taken and verdict != "host CPU"):
        return Opinion(note=f"{about}, {tried - taken} of {tried} calls were refused: {said}")
    return Opinion(problem=f"{about}: {said}")


def _counts(text: str) -> tuple[int, int]:
    """`2/3`: of three samples two were taken."""
    taken, _, tried = text.partition("/")
    return (int(taken), int(tried)) if taken.isdigit() and tried.isdigit() else (0, 0)
