"""Fuzz `analyze` and `port` with generated programs: any text that Python's grammar allows.

    python -m tests.fuzz.generated --tool FOLDER [--examples N] [--seed N]

FOLDER holds hypothesmith (`pip install --target FOLDER hypothesmith`), which is no requirement of
the toolkit. To each program a use of torch is added, so that it is interpreted and rewritten.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

from migrate.analyze.collect import Analyser
from migrate.analyze.model import Options as AnalyzeOptions
from migrate.port.porter import Options, Porter
from migrate.project import discover
from migrate.syntax.import_planner import HELPER_MODULE, HELPERS
from migrate.table import Table
from tests.fuzz.check_file import check_file

_HEAD = "import torch\n"
_TAIL = "\nresult = torch.relu(torch.ones(2))\n"


def check(text: str, table: Table, folder: Path) -> list[str]:
    """What is wrong with the port of one program."""
    path = folder / "drawn.py"
    path.write_text(text, encoding="utf-8", newline="")
    project = discover([path])
    analyser = Analyser(project, table, AnalyzeOptions("", "both", "supported", ""))
    porter = Porter(project, table, Options(jobs=1))
    found, _ = check_file(
        project.files[0],
        analyser,
        lambda source: porter.port(source, f"import {HELPER_MODULE} as {HELPERS}"),
        60.0,
    )
    return found.problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tool", type=Path, required=True)
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.path.append(str(options.tool))
    import hypothesmith  # type: ignore[import-not-found,unused-ignore]

    table = Table()
    counted: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:

        @seed(options.seed)
        @settings(
            max_examples=options.examples,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(hypothesmith.from_node())
        def each(text: Any) -> None:
            counted["programs"] += 1
            for problem in check(f"{_HEAD}{text}{_TAIL}", table, Path(name)):
                counted[problem.partition(":")[0]] += 1
                print(f"{problem}\n    {text!r}", flush=True)

        each()
    print(dict(counted))
    return int(len(counted) > 1)


if __name__ == "__main__":
    sys.exit(main())
