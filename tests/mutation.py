"""The page of a mutation run: which changes of the code no test noticed.

    make mutation        # mutmut changes five modules, one place at a time; this writes the page

A mutant is killed when a test of the module fails with it. One that no test runs counts as alive.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import date
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
# Of mutmut 3: what the tests of a mutant ended with. None: it was not run.
_KILLED = (1, 3, -11, 24, 36, 152, 255, -24)  # a failed test, a crash, a limit of time
_SURVIVED, _NO_TESTS = 0, 33


def outcomes(meta: Path) -> Counter[str]:
    codes = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"].values()
    return Counter(map(_outcome, codes))


def _outcome(code: int | None) -> str:
    if code is None:
        return "not run"
    if code in (_SURVIVED, _NO_TESTS):
        return "survived" if code == _SURVIVED else "without a test"
    return "killed" if code in _KILLED else "not run"


def _last_day(mutants: Path) -> date:
    """When a result was written last; the page may be written later."""
    return date.fromtimestamp(max(meta.stat().st_mtime for meta in mutants.rglob("*.meta")))


def page(mutants: Path) -> str:
    lines = [
        "# Mutation testing",
        "",
        "`make mutation` lets mutmut 3.8.1 change the modules below, one place at a time, and runs "
        "their quick tests",
        "(`[mutmut]` in setup.cfg) against each change. "
        f"Last run {_last_day(mutants)}, Python 3.11, no framework. The score",
        "is the share of killed mutants among those that were run; one that no test runs is alive.",
        "",
        "| module | mutants | killed | survived | without a test | not run | score |",
        "|---|---|---|---|---|---|---|",
    ]
    counted = {meta: outcomes(meta) for meta in sorted(mutants.rglob("*.meta"))}
    all_of = sum(counted.values(), Counter())
    if all_of["not run"]:
        run = all_of.total() - all_of["not run"]
        said = f"**This is not the whole run**: {run:,} of {all_of.total():,} mutants."
        lines[-2:-2] = [said, ""]
    for meta, found in counted.items():
        run = sum(found.values()) - found["not run"]
        score = f"{100 * found['killed'] / run:.0f}%" if run else "-"
        name = meta.relative_to(mutants).with_suffix("").as_posix()
        counts = [found[word] for word in ("killed", "survived", "without a test", "not run")]
        cells = [f"`{name}`", sum(found.values()), *counts, score]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = page(Path(sys.argv[1]))
    (CHECKOUT / "docs/results/mutation.md").write_text(text, encoding="utf-8")
