"""What analyze knows: uses and signs of one file, then rows and actions of the whole program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from migrate.analyze.coverage import Coverage
from migrate.findings import Finding
from migrate.table.entry import STATUSES, Entry

# `unlisted` is no status of a row: the table has none.
LEVELS = (*STATUSES, "unlisted")


@dataclass(frozen=True, slots=True)
class Options:
    """What the user wants to know."""

    device: str = ""  # one of PLATFORMS; "" for all of them
    mode: str = "both"
    min_status: str = "supported"
    version: str = ""  # of MindSpore; "" for the newest

    @property
    def graph(self) -> bool:
        return self.mode in ("graph", "both")


class Place(NamedTuple):
    """Where something is; line and column count from 1, the cell is that of a notebook."""

    path: str
    line: int
    column: int
    cell: int = 0
    scope: str = ""
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return (
            f"{self.path}: cell {self.cell}:{self.line}"
            if self.cell
            else f"{self.path}:{self.line}"
        )


class Use(NamedTuple):
    """One use of one torch API. `problem` says why this one does not port by itself."""

    api: str
    form: str
    place: Place
    code: str = ""
    problem: str = ""
    advice: str = ""
    note: str = ""  # the device refuses some ways to call it


class Sign(NamedTuple):
    """Something the code does that no API name shows: an in-place change, a branch on a tensor."""

    feature: str
    what: str  # the construct, in a few words; equal words are counted together
    place: Place
    code: str
    message: str
    next_step: str
    severity: str
    mode: str = ""  # "graph": no problem in PyNative


@dataclass(slots=True)
class FileReport:
    """All that one file gives; travels between processes, so it holds no syntax tree."""

    path: str
    lines: int = 0
    uses: list[Use] = field(default_factory=list)
    signs: list[Sign] = field(default_factory=list)
    problem: Finding | None = None
    torch: bool = True  # False: the file has nothing to do with torch and was not parsed


@dataclass(slots=True)
class Operator:
    """One row of the operator table."""

    api: str
    entry: Entry | None
    places: list[Place] = field(default_factory=list)
    troubled: int = 0  # uses that have a problem of their own (a refused argument)
    unknown: bool = False  # methods on values that may not be tensors
    group: str = ""  # its feature group; plain operators have none

    @property
    def status(self) -> str:
        return self.entry.status if self.entry else "unlisted"

    @property
    def target(self) -> str:
        return self.entry.target if self.entry else ""

    @property
    def count(self) -> int:
        return len(self.places)


@dataclass(slots=True)
class Feature:
    """One row of the feature table: a group, and what of it the program uses."""

    name: str
    status: str
    members: dict[str, int] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    note: str = ""

    @property
    def count(self) -> int:
        return len(self.places)


@dataclass(slots=True)
class Action:
    """Something to do, once for all places where it is due."""

    code: str
    title: str
    why: str
    step: str
    severity: str
    places: list[Place] = field(default_factory=list)
    api: str = ""
    mode: str = ""
    open: bool = False  # the porter leaves these places to a person

    @property
    def count(self) -> int:
        return len(self.places)

    @property
    def due(self) -> bool:
        """Notes ask for nothing, unless the port waits for it."""
        return self.open or self.severity in ("error", "warning")

    @property
    def level(self) -> str:
        """For reports by line: what the port waits for is a warning at least."""
        return "warning" if self.open and self.severity == "note" else self.severity


@dataclass(slots=True)
class FileCount:
    """What one file asks for."""

    path: str
    coverage: Coverage
    open_items: int = 0


@dataclass(slots=True)
class Analysis:
    """The whole answer; every report shows this and computes nothing of its own."""

    options: Options
    operators: list[Operator]
    features: list[Feature]
    actions: list[Action]
    skipped: list[Finding]
    files: int = 0
    torch_files: int = 0
    lines: int = 0
    uses: int = 0
    automatic: int = 0
    by_status: dict[str, int] = field(default_factory=dict)
    # Of the porter's own try; an estimate by the table alone has none.
    coverage: Coverage | None = None
    open_items: int = 0
    by_file: list[FileCount] = field(default_factory=list)
    exit_code: int = 0
    hidden: str = ""  # what --select, --ignore, comments and the baseline left out

    @property
    def share(self) -> float:
        return self.automatic / self.uses if self.uses else 1.0

    @property
    def must_act(self) -> bool:
        """Whether a person has to look: notes alone do not ask for that."""
        return any(action.due for action in self.actions) or bool(self.skipped)
