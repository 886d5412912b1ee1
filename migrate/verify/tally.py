"""From notes of trials to what they say of a row and of a case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Notes = list[dict[str, Any]]
STAGES = ("forward", "gradient", "graph")
# From the best to the worst; a case is as good as its worst trial.
VERDICTS = ("agrees", "refused", "fails", "disagrees")


@dataclass(slots=True)
class Tally:
    """Counts over trials of one row (or one case), and the first thing that went wrong."""

    samples: int = 0
    refused: int = 0
    stages: dict[str, list[int]] = field(default_factory=lambda: {s: [0, 0] for s in STAGES})
    others: dict[str, list[int]] = field(default_factory=dict)  # dtype -> agreed, tried
    random: bool = False
    errors: list[int] = field(default_factory=lambda: [0, 0])  # torch's, that are errors here too
    accepts: str = ""  # the first call that torch refuses and MindSpore does not
    inside: set[str] = field(default_factory=set)  # dtypes: inputs with elements, dimensions fail
    eager: set[str] = field(default_factory=set)  # dtypes: PyNative mode fails
    first: dict[tuple[str, str, str], str] = field(default_factory=dict)  # verdict, dtype, edge
    note: str = ""  # of the row; dtypes and edges that it names are excepted
    loose: str = ""  # the first result that agrees only roughly
    wrong: set[str] = field(default_factory=set)  # dtypes with wrong results, edges left out
    skipped: str = ""

    def add(self, trial: dict[str, Any]) -> None:
        """Count one trial."""
        if "skipped" in trial:
            self.skipped = self.skipped or trial["skipped"]
            return
        if trial.get("variant") == "error":
            self._add_error(trial)
            return
        self.random |= bool(trial.get("random"))
        main = trial["dtype"] == "float32"
        if main:
            self.samples += 1
        else:
            self.others.setdefault(trial["dtype"], [0, 0])[1] += 1
        worst = "agrees"
        for stage in STAGES:
            text = trial.get(stage)
            if text is not None:
                kind = text.partition(":")[0]
                worst = max(worst, kind, key=VERDICTS.index)
                self._add_stage(trial, stage, text, kind)
        if not main and worst == "agrees":
            self.others[trial["dtype"]][0] += 1

    def _add_stage(self, trial: dict[str, Any], stage: str, text: str, kind: str) -> None:
        """What one stage of a trial says."""
        if text.startswith("agrees: "):
            self.loose = self.loose or _said(trial, stage, text)
        if kind == "refused":
            self.refused += 1
        elif trial["dtype"] == "float32":
            self.stages[stage][1] += 1
            self.stages[stage][0] += kind == "agrees"
        if kind != "agrees":
            self._add_failure(trial, stage, text, kind)

    def _add_failure(self, trial: dict[str, Any], stage: str, text: str, kind: str) -> None:
        edge, dtype = trial.get("edge", ""), trial["dtype"]
        # Results kept from earlier versions say no more than that there is one.
        which = (kind, dtype, edge if isinstance(edge, str) else "empty")
        self.first.setdefault(which, _said(trial, stage, text))
        if kind != "refused" and stage != "graph":
            self.eager.add(dtype)
        if kind != "refused" and not edge:
            self.inside.add(dtype)
        if kind == "disagrees" and not edge:
            self.wrong.add(dtype)

    def _add_error(self, trial: dict[str, Any]) -> None:
        """A refusal by the porter and a crash are loud, too."""
        accepted = trial.get("error", "").startswith("accepts")
        self.errors[0] += not accepted
        self.errors[1] += 1
        if accepted:
            self.accepts = self.accepts or _said(trial, "error", trial["error"])

    @property
    def edge_only(self) -> bool:
        """Nothing but inputs without elements or dimensions goes wrong."""
        return not self.inside - set(self.excepted)

    @property
    def graph_only(self) -> bool:
        """Nothing but Graph mode goes wrong."""
        return not self.eager - set(self.excepted)

    def unstated(self, note: str) -> list[str]:
        """Dtypes that give wrong results although the row's note does not name them."""
        return sorted(dtype for dtype in self.wrong if dtype == "float32" or dtype not in note)

    @property
    def excepted(self) -> list[str]:
        """Dtypes, empty inputs or single numbers that go wrong, as the row's own note says."""
        return sorted({self._excuse(dtype, edge) for _, dtype, edge in self.first} - {""})

    def _excuse(self, dtype: str, edge: str) -> str:
        named = (what for what in (edge, dtype) if what in self.note)
        return next((what for what in named if what not in ("", "float32")), "")

    def _counted(self) -> dict[str, str]:
        """The first text of every verdict, without what the row itself excepts."""
        found: dict[str, str] = {}
        for (kind, dtype, edge), text in self.first.items():
            if not self._excuse(dtype, edge):
                found.setdefault(kind, text)
        return found

    @property
    def verdict(self) -> str:
        """Of all trials; `untried` where torch's samples could not be put to it."""
        if not self.samples and not self.others:
            return "untried"
        return max(self._counted(), key=VERDICTS.index, default="agrees")

    @property
    def reason(self) -> str:
        return self._counted().get(self.verdict, "") or (self.skipped if not self.samples else "")

    def document(self, row_hash: str) -> dict[str, Any]:
        """The committed form: short keys in a fixed order, nothing that is zero or empty."""
        found: dict[str, Any] = {"verdict": self.verdict, "hash": row_hash, "samples": self.samples}
        for stage, (agreed, tried) in self.stages.items():
            if tried:
                found[stage] = f"{agreed}/{tried}"
        if self.refused:
            found["refused"] = self.refused
        if self.others:
            found["dtypes"] = {d: f"{a}/{t}" for d, (a, t) in sorted(self.others.items())}
        if self.random:
            found["random"] = True
        if self.verdict in ("fails", "disagrees"):
            found |= {"edge_only": True} if self.edge_only else {}
            found |= {"graph_only": True} if self.graph_only else {}
        if self.loose:
            found["loose"] = self.loose
        if self.wrong:
            found["wrong"] = sorted(self.wrong)
        if self.excepted:
            found["excepted"] = self.excepted
        if self.errors[1]:
            found["errors"] = f"{self.errors[0]}/{self.errors[1]}"
        if self.accepts:
            found["accepts"] = self.accepts
        if self.reason:
            found["first"] = self.reason
        return found


def _said(trial: dict[str, Any], stage: str, text: str) -> str:
    detail = text.partition(": ")[2]
    where = f"sample {trial['place']}"
    if trial["dtype"] != "float32":
        where += f" ({trial['dtype']})"
    call = f" `{trial['call'].removeprefix('return ')}`" if trial.get("call") else ""
    return f"{where}{call[:160]}, {stage}: {detail}"[:420]


def trials_in(notes: Notes) -> Iterable[dict[str, Any]]:
    """Finished trials, and those during which the process died."""
    begun: dict[str, Any] | None = None
    for note in notes:
        if note.get("begins"):
            begun = {key: value for key, value in note.items() if key != "begins"}
        elif "stage" in note and begun is not None:
            begun |= note
        elif "died" in note and begun is not None:
            stage = begun.pop("stage", "forward")
            yield {**begun, stage: f"fails: {note['died']}"}
            begun = None
        elif "place" in note:
            begun = None
            yield note


def by_row(notes: Notes, rows: dict[str, Tally], canonical: Any) -> None:
    """Give every trial to the row of its API."""
    for trial in trials_in(notes):
        rows.setdefault(canonical(trial["api"]), Tally()).add(trial)


def of_case(notes: Notes) -> Tally:
    """The float32 function form alone: what torch's own tests call the operator."""
    tally = Tally()
    for trial in trials_in(notes):
        if trial["variant"] == "function" and trial["dtype"] == "float32":
            tally.add(trial)
    broken = next((note["broken"] for note in notes if "broken" in note), "")
    if broken and not tally.samples:
        tally.skipped = broken
    return tally
