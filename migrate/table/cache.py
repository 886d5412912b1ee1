"""Cache built rows in the user's cache directory: reading TOML takes longer than all the rest."""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from migrate.table.entry import Entry, Overload

_ENTRY_FIELDS = tuple(field.name for field in fields(Entry))
_OVERLOAD_FIELDS = tuple(field.name for field in fields(Overload))
_OVERLOADS = _ENTRY_FIELDS.index("overloads")

Stamp = tuple[Any, ...]


def directory() -> Path:
    """Where this user's caches live; nothing is lost when it is deleted."""
    if own := os.environ.get("MS_MIGRATE_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "ms-migrate"


def _states(paths: Iterable[Path]) -> tuple[tuple[int, int], ...]:
    return tuple((status.st_size, status.st_mtime_ns) for status in map(os.stat, paths))


# Taken when the code is imported: rows are built by that code, whatever stands on the disk later.
_CODE = _states(
    Path(__file__).with_name(name)
    for name in ("build.py", "cache.py", "devices.py", "entry.py", "mint.py", "signature.py")
)


def stamp(path: Path) -> Stamp:
    """Changes when the mapping file changes, or the code that builds rows from it.

    Taken before the file is read: one that is written meanwhile must be read again.
    """
    # What these say goes into the rows of every file.
    beside = [path.parent / name for name in ("mint.toml", "platforms.toml")]
    states = _states((path, *filter(Path.exists, beside)))
    return (str(path), states, _CODE, _ENTRY_FIELDS, _OVERLOAD_FIELDS, sys.hexversion)


def recall(path: Path, state: Stamp) -> Any:
    """What was stored for this file in this state; else None."""
    try:
        stored, content = marshal.loads(_file(path).read_bytes())
        return content if stored == state else None
    except (OSError, ValueError, EOFError, TypeError, RuntimeError):
        return None


def store(path: Path, state: Stamp, content: Any) -> None:
    """Remember plain values for a file; a cache that cannot be written is no reason to fail."""
    import tempfile

    try:
        data = marshal.dumps((state, content))
        target = _file(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        # Written beside and moved: another process may be reading at this moment.
        with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as stream:
            stream.write(data)
        Path(stream.name).replace(target)
    except (OSError, ValueError, RuntimeError):
        return


class CachedRows(Mapping[str, Entry]):
    """Rows as they were stored; each is built when it is first asked for, since most never are."""

    def __init__(self, stored: list[tuple[tuple[str, ...], tuple[Any, ...]]]) -> None:
        self._places = {name: number for number, (names, _) in enumerate(stored) for name in names}
        self._rows: list[Any] = [row for _, row in stored]

    def __getitem__(self, name: str) -> Entry:
        number = self._places[name]
        row = self._rows[number]
        if row.__class__ is tuple:
            row = self._rows[number] = _thaw(row)
        entry: Entry = row
        return entry

    def own_names(self) -> Iterator[str]:
        """The rows' own names, without the aliases and without building a row."""
        return (row[0] if row.__class__ is tuple else row.torch for row in self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def recall_rows(path: Path, state: Stamp) -> CachedRows | None:
    """The rows of a mapping file as they were built last time; None when they must be built."""
    rows = recall(path, state)
    try:
        return None if rows is None else CachedRows(rows)
    except (TypeError, ValueError):
        return None


def store_rows(path: Path, state: Stamp, entries: Mapping[str, Entry]) -> None:
    """Remember rows under all their names; aliases share a row."""
    rows: dict[str, tuple[Entry, list[str]]] = {}
    for name, entry in entries.items():
        rows.setdefault(entry.torch, (entry, []))[1].append(name)
    store(path, state, [(tuple(names), _freeze(entry)) for entry, names in rows.values()])


def _file(path: Path) -> Path:
    folder = zlib.crc32(str(path.parent).encode())
    return directory() / "tables" / f"{path.stem}-{folder:08x}.rows"


def _freeze(entry: Entry) -> tuple[Any, ...]:
    values = [getattr(entry, name) for name in _ENTRY_FIELDS]
    values[_OVERLOADS] = tuple(
        tuple(_plain(getattr(overload, name)) for name in _OVERLOAD_FIELDS)
        for overload in entry.overloads
    )
    return tuple(_plain(value) for value in values)


def _plain(value: Any) -> Any:
    """Marshal takes built-in containers only, and rows hold nothing else but text."""
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
    if hasattr(value, "items"):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _thaw(row: tuple[Any, ...]) -> Entry:
    values = list(row)
    values[_OVERLOADS] = tuple(Overload(*overload) for overload in row[_OVERLOADS])
    return Entry(*values)
