"""The wide run: every relation over the whole corpus; prints what differs, exits 1 if anything."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from migrate.table import Table
from tests.metamorphic.corpus import alone, whole
from tests.metamorphic.relations import RELATIONS


def main(names: list[str]) -> int:
    table, counts = Table(), Counter[tuple[str, str]]()
    for path in [Path(name) for name in names] or whole():
        text = alone(path)
        for relation, check in RELATIONS.items():
            with tempfile.TemporaryDirectory() as folder:
                difference = check(text, Path(folder), table)
            if difference is None:
                continue
            counts[relation, "differs" if difference else "same"] += 1
            if difference:
                print(f"== {relation} {path}\n{difference}\n")
    for relation in RELATIONS:
        print(f"{relation}: {counts[relation, 'same']} same, {counts[relation, 'differs']} differ")
    return int(any(kind == "differs" for _, kind in counts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
