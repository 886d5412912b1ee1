"""Which cases there are, and which module knows how to run each kind."""

from __future__ import annotations

from pathlib import Path

from migrate.verify import layers, operators, own, training
from migrate.verify.session import Note


def all_cases() -> dict[str, list[str]]:
    """Case -> the torch names it may put on trial."""
    return {
        **operators.case_names(),
        **layers.case_names(),
        **training.case_names(),
        **own.case_names(),
    }


def run_case(key: str, folder: Path, start: int, note: Note) -> None:
    """Everything but operators, which the session runs itself."""
    kind = key.partition(":")[0] + ":"
    if kind in (layers.PREFIX, layers.OWN):
        layers.run_case(key, folder, start, note)
    elif kind == own.PREFIX:
        own.run_case(key, folder, start, note)
    else:
        training.run_case(key, folder, start, note)
