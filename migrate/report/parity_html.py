"""One self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from migrate.parity.check import Report


def write(report: Report, path: Path) -> None:
    raise NotImplementedError
