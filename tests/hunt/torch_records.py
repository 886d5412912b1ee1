"""What torch gave for a program does not change with the port: records are reused by content.

The key is the program's text, the worker's and torch's version. Records of crashes are not stored,
they may be the machine's. `MS_MIGRATE_HUNT_CACHE=` (empty) runs torch for every program.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

_DEFAULT = Path(tempfile.gettempdir()) / f"ms_migrate_hunt_{os.getuid()}"


def restore(sources: Iterable[Path]) -> set[Path]:
    """Copy stored records into these folders; the folders that got one."""
    store = _store()
    return set() if store is None else {source for source in sources if _restore(store, source)}


def _restore(store: Path, source: Path) -> bool:
    stored = store / _key(source)
    if not stored.exists():
        return False
    shutil.copyfile(stored, source / "torch.json")
    return True


def keep(sources: Iterable[Path]) -> None:
    store = _store()
    if store is None:
        return
    store.mkdir(mode=0o700, parents=True, exist_ok=True)
    for source in sources:
        record = source / "torch.json"
        if "crash" in json.loads(record.read_text(encoding="utf-8")):
            continue
        key = _key(source)
        part = store / f"{key}.{os.getpid()}"
        shutil.copyfile(record, part)
        os.replace(part, store / key)


def _store() -> Path | None:
    named = os.environ.get("MS_MIGRATE_HUNT_CACHE")
    if named is None:
        return _DEFAULT
    return Path(named) if named else None


def _key(source: Path) -> str:
    """The programs' own files only: not what a run leaves behind."""
    digest = hashlib.sha256(importlib.metadata.version("torch").encode())
    digest.update(Path(__file__).with_name("worker.py").read_bytes())
    for path in sorted(source.rglob("*.py")):
        digest.update(f"{path.relative_to(source)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
