"""From notes of dry runs to what MindSpore's Ascend backend says of a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from migrate.verify.tally import STAGES, trials_in

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
_WORDS = {"program failed": "fails"}


@dataclass(slots=True)
class AscendTally:
    """Counts over the dry runs of one row; float32 decides the verdict."""

    stages: dict[str, list[int]] = field(default_factory=lambda: {s: [0, 0] for s in STAGES})
    dtypes: dict[str, str] = field(default_factory=dict)  # the worst verdict of each other dtype
    first: dict[str, str] = field(default_factory=dict)
    verdicts: set[str] = field(default_factory=set)

    def add(self, trial: dict[str, Any]) -> None:
        if "skipped" in trial or trial.get("edge"):
            return
        main = trial["dtype"] == "float32"
        for stage in STAGES:
            text = trial.get(stage)
            if text is None:
                continue
            if text.startswith("refused: ") and trial.get("by_porter"):
                continue
            word, _, detail = text.partition(": ")
            word = _WORDS.get(word, word)
            verdict = word if word in VERDICTS else "fails"
            if main:
                self.stages[stage][1] += 1
                self.stages[stage][0] += verdict in VERDICTS[:3]
                self.verdicts.add(verdict)
            else:
                known = self.dtypes.get(trial["dtype"], VERDICTS[0])
                self.dtypes[trial["dtype"]] = max(known, verdict, key=VERDICTS.index)
            if verdict != "accepted":
                where = stage if main else f"{trial['dtype']}, {stage}"
                self.first.setdefault(verdict, f"{where}: {detail}"[:200])

    @property
    def verdict(self) -> str:
        if self.verdicts:
            return max(self.verdicts, key=VERDICTS.index)
        # Rows for integers or booleans alone.
        return max(self.dtypes.values(), key=VERDICTS.index, default="")

    def document(self) -> dict[str, Any]:
        """The committed form."""
        found: dict[str, Any] = {"verdict": self.verdict}
        for stage, (accepted, tried) in self.stages.items():
            if tried:
                found["pynative" if stage == "forward" else stage] = f"{accepted}/{tried}"
        if self.dtypes:
            found["dtypes"] = dict(sorted(self.dtypes.items()))
        if self.verdict in self.first:
            found["first"] = self.first[self.verdict]
        return found


def by_row(notes: list[dict[str, Any]], rows: dict[str, AscendTally], canonical: Any) -> None:
    """Give every trial to the row of its API."""
    for trial in trials_in(notes):
        rows.setdefault(canonical(trial["api"]), AscendTally()).add(trial)
