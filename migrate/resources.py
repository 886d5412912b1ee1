"""Find the folders that the wheel holds inside the package and a checkout beside it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from migrate.errors import RequestError

FOLDERS = ("mappings", "reference_pt", "ported_ms")


@cache
def folder(name: str) -> Path:
    """Return the directory of a bundled folder, wherever this copy of the package keeps it."""
    if name not in FOLDERS:
        raise ValueError(f"{name!r} is not a bundled folder; there are {', '.join(FOLDERS)}")
    package = Path(__file__).resolve().parent
    installed = package / name
    if installed.is_dir():
        return installed
    # In a checkout the folders are siblings; setup.cfg tells a checkout from a stray site-packages.
    checkout = package.parent
    if (checkout / name).is_dir() and (checkout / "setup.cfg").is_file():
        return checkout / name
    raise RequestError(
        f"this installation of ms-migrate lacks its {name} folder",
        where=str(package),
        next_step="install it again: pip install --force-reinstall ms-migrate",
    )
