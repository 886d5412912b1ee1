"""From notes of dry runs to what MindSpore's Ascend backend says of a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from migrate.verify.tally import STAGES, trials_in
from migrate.verify.zygote import DEATHS

# From the best to the worst.
VERDICTS = (
    "accepted",
    "AI CPU",
    "host CPU",
    "undecided",
    "fails",
    "refused",
    "dtype refused",
    "no kernel",
)
REFUSALS = VERDICTS[5:]
_WORDS = {"program failed": "fails"}
NOT_RUN = "not run"
_MOST_TEXT = 200


@dataclass(slots=True)
class AscendTally:
    """Counts over the dry runs of one row; float32 decides the verdict."""

    stages: dict[str, list[int]] = field(default_factory=lambda: {s: [0, 0] for s in STAGES})
    dtypes: dict[str, str] = field(default_factory=dict)  # the worst verdict of each other dtype
    first: dict[tuple[str, str], str] = field(default_factory=dict)  # dtype, verdict -> reason
    verdicts: set[str] = field(default_factory=set)
    unsaid: str = ""  # why a trial says nothing

    def add(self, trial: dict[str, Any]) -> None:
        if "skipped" in trial or trial.get("edge"):
            self.unsaid = self.unsaid or _unsaid(trial)
            return
        if trial.get("by_porter"):
            self.unsaid = self.unsaid or str(trial.get("forward", ""))
            return
        for stage in STAGES:
            if stage in trial:
                self._add_stage(trial["dtype"], stage, trial[stage])

    def _add_stage(self, dtype: str, stage: str, text: str) -> None:
        verdict, detail = _read(text)
        if dtype == "float32":
            self.stages[stage][1] += 1
            self.stages[stage][0] += verdict in VERDICTS[:3]
            self.verdicts.add(verdict)
        else:
            known = self.dtypes.get(dtype, VERDICTS[0])
            self.dtypes[dtype] = max(known, verdict, key=VERDICTS.index)
        if verdict != "accepted":
            self.first.setdefault((dtype, verdict), f"{stage}: {detail}"[:_MOST_TEXT])

    @property
    def verdict(self) -> str:
        if self.verdicts:
            return max(self.verdicts, key=VERDICTS.index)
        # Rows for integers or booleans alone.
        return max(self.dtypes.values(), key=VERDICTS.index, default=NOT_RUN)

    def document(self) -> dict[str, Any]:
        """The committed form."""
        found: dict[str, Any] = {"verdict": self.verdict}
        for stage, (accepted, tried) in self.stages.items():
            if tried:
                found["pynative" if stage == "forward" else stage] = f"{accepted}/{tried}"
        if self.dtypes:
            found["dtypes"] = dict(sorted(self.dtypes.items()))
        why = {d: self.first[d, v] for d, v in self.dtypes.items() if (d, v) in self.first}
        if self.verdict == NOT_RUN:
            found["first"] = self.unsaid[:_MOST_TEXT]
        elif ("float32", self.verdict) in self.first:
            found["first"] = self.first["float32", self.verdict]
        if why:
            found["why"] = dict(sorted(why.items()))
        return found


def _read(text: str) -> tuple[str, str]:
    """The verdict and its reason; a process that died says nothing of the device."""
    word, _, detail = text.partition(": ")
    if word == "fails" and detail.startswith(DEATHS):
        return "undecided", f"the dry run {detail}"
    word = _WORDS.get(word, word)
    return (word, detail) if word in VERDICTS else ("fails", detail)


def _unsaid(trial: dict[str, Any]) -> str:
    return str(trial.get("skipped") or f"only samples at the edge: {trial['edge']}")


def by_row(notes: list[dict[str, Any]], rows: dict[str, AscendTally], canonical: Any) -> None:
    """Give every trial to the row of its API."""
    for trial in trials_in(notes):
        rows.setdefault(canonical(trial["api"]), AscendTally()).add(trial)
