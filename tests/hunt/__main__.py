"""python -m tests.hunt [SUBJECT...] [--name TEXT] [--jobs N] [--folder DIR] [--write]
                     [--programs DIR]

Without subjects: all of them. --write renews their verdicts in docs/results/hunt.json and hunt.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.hunt.idioms import PROGRAMS, read_programs, subjects
from tests.hunt.record import renew
from tests.hunt.rows import write as write_rows
from tests.hunt.run import Judged, hunt
from tests.hunt.table import RESULTS, page, text_table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hunt", description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="default: all")
    parser.add_argument("--name", default="", help="only idioms whose name holds this text")
    parser.add_argument("--classes", default="", help="only these classes, for example 9,15")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keep programs, ports and records there")
    parser.add_argument("--programs", type=Path, default=PROGRAMS, help="subjects from this folder")
    parser.add_argument("--write", action="store_true", help=f"renew hunt.json and {RESULTS.name}")
    options = parser.parse_args()
    wanted = {int(n) for n in options.classes.split(",") if n}
    programs = [
        program
        for subject in options.subjects or subjects(options.programs)
        for program in read_programs(subject, options.programs)
        if options.name in program.name and (not wanted or wanted & set(program.classes))
    ]
    if options.write and options.programs != PROGRAMS:
        parser.error("--write renews the record of the programs in the repository only")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        judged = hunt(programs, (options.folder or Path(temporary)).resolve(), jobs=options.jobs)
    for one in judged:
        if one.verdict != "right":
            sys.stdout.write(_line(one))
    sys.stdout.write(text_table(judged))
    sys.stderr.write(f"{len(programs)} programs in {time.monotonic() - start:.0f} s\n")
    if options.write:
        RESULTS.write_text(page(renew(judged)), encoding="utf-8")
        write_rows()
    return 1 if any(one.verdict in ("silent", "invalid") for one in judged) else 0


def _line(one: Judged) -> str:
    what = "; ".join(f"{mode} {text}" for mode, text in one.differences.items())
    finding = f" | {one.findings[0]}" if one.findings else ""
    classes = ",".join(map(str, one.program.classes))
    return f"{one.verdict:8} [{classes}] {one.program.name}: {what}{finding}\n"


if __name__ == "__main__":
    sys.exit(main())
