"""A file of findings that are known already, so that only what is new fails a build.

A finding is known by its file, its code and the text of its line: it stays known when lines above
it come and go, and is new again when its own line changes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from migrate.errors import RequestError
from migrate.files.atomic import write_text
from migrate.files.plain import read_json
from migrate.printable import json_text

SCHEMA, VERSION = "ms-migrate/baseline", 1
Key = tuple[str, str, str]  # path relative to the file, code, text of the line


class Baseline:
    """What is known; each entry covers as many findings as there were."""

    def __init__(self, path: Path, known: Counter[Key]) -> None:
        self._folder = path.resolve().parent
        self._left = known

    @classmethod
    def read(cls, path: Path) -> Baseline:
        try:
            document = read_json(path)
            if document["schema"] != SCHEMA or document["version"] != VERSION:
                raise ValueError("another schema")
            listed = document["findings"]
            known = Counter({(e["path"], e["code"], e["line"]): int(e["count"]) for e in listed})
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            step = "write it with --write-baseline"
            raise RequestError(reason, where=str(path), next_step=step) from None
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise RequestError(
                f"is not a baseline of ms-migrate ({error})",
                where=str(path),
                next_step="write it again with --write-baseline",
            ) from None
        return cls(path, known)

    def covers(self, path: Path, code: str, line: str) -> bool:
        """Whether this one is known; an entry is used up by the findings that it covers."""
        key = entry(self._folder, path, code, line)
        if self._left[key] < 1:
            return False
        self._left[key] -= 1
        return True


def entry(folder: Path, path: Path, code: str, line: str) -> Key:
    relative = os.path.relpath(path.resolve(), folder).replace(os.sep, "/")
    return relative, code, " ".join(line.split())


def write(path: Path, found: Iterable[tuple[Path, str, str]]) -> int:
    """Write what was found as the new baseline; the number of entries."""
    counted = Counter(entry(path.resolve().parent, *one) for one in found)
    rows = [
        {"path": where, "code": code, "line": line, "count": count}
        for (where, code, line), count in sorted(counted.items())
    ]
    listed = ",\n".join(f"    {json_text(row)}" for row in rows)
    head = f'{{\n  "schema": "{SCHEMA}",\n  "version": {VERSION},\n  "findings": ['
    write_text(path, f"{head}\n{listed}\n  ]\n}}\n" if rows else f"{head}]\n}}\n")
    return sum(counted.values())
