"""python -m tests.hunt.rows: write mappings/programs.json from the last verdicts of the programs.

Every program of the hunt that was run counts for each row of the table that it uses: as agreeing
where its verdict is *right* (both modes gave what torch gave), else only as run. So do the runs
of `make flagship`, whose results are kept. Programs whose results are not kept do not count.
"""

from __future__ import annotations

import functools
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

from migrate.analyze.collect import analyse
from migrate.analyze.model import Options
from migrate.project import discover
from migrate.resources import folder
from migrate.table import Table
from migrate.table.program_evidence import FILE, text
from tests.hunt.idioms import Program
from tests.hunt.record import every_program, verdicts

TRAINING = Path(__file__).resolve().parents[1] / "training"
FLAGSHIP = TRAINING.parents[1] / "docs" / "results" / "flagship.json"
# Where the port has a finding, the difference is told; what torch itself refuses shows nothing.
_COUNTED = ("right", "loud", "silent")
# Uses that only name a thing: nothing is computed by them.
_NAMED = frozenset({"import", "unknown", "annotation", "base", "type", "exists"})


def rows_of(programs: Iterable[tuple[set[str], bool]]) -> dict[str, tuple[int, int]]:
    """Torch name -> how many of the programs that use it agree, and how many were run."""
    counts: dict[str, tuple[int, int]] = {}
    for names, agrees in programs:
        for name in names:
            right, run = counts.get(name, (0, 0))
            counts[name] = (right + agrees, run + 1)
    return counts


def every_run(table: Table) -> Iterator[tuple[set[str], bool]]:
    """The rows that a program uses, and whether it agrees with torch; those that were run."""
    known = verdicts()
    for program in every_program():
        verdict = known.get(program.name, "")
        if verdict in _COUNTED:
            yield used_rows(program, table), verdict == "right"
    names = functools.cache(lambda path: _names(path, table))
    for path, agrees in training_runs():
        yield names(path), agrees


def training_runs() -> Iterator[tuple[Path, bool]]:
    """Each run of `make flagship`, a program in one setting, and whether it agreed with torch."""
    for run in json.loads(FLAGSHIP.read_text(encoding="utf-8")):
        yield TRAINING / "flagship" / run["program"], not run["problem"]


def used_rows(program: Program, table: Table) -> set[str]:
    """The rows behind the uses of torch in a program, under their canonical names."""
    with tempfile.TemporaryDirectory() as temporary:
        for name, source in program.files.items():
            path = Path(temporary) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        return _names(Path(temporary), table)


def _names(place: Path, table: Table) -> set[str]:
    reports = analyse(discover([place]), table, Options(), 1)
    apis = {use.api for report in reports for use in report.uses if use.form not in _NAMED}
    return {entry.torch for api in apis if (entry := table.get(api)) is not None}


def write() -> int:
    """Renew the file; how many rows it has."""
    rows = rows_of(every_run(Table()))
    versions = {name: version(name).partition("+")[0] for name in ("torch", "mindspore")}
    (folder("mappings") / FILE).write_text(text(rows, versions), encoding="utf-8")
    return len(rows)


if __name__ == "__main__":
    sys.stdout.write(f"{write()} rows\n")
