"""Reading and rewriting source needs no numpy; running and comparing does, and says so."""

from __future__ import annotations

from importlib.util import find_spec

from migrate.errors import RequestError


def check() -> None:
    """Refuse in words what would otherwise end in an ImportError."""
    missing = [name for name in ("numpy", "safetensors") if not _is_there(name)]
    if missing:
        raise RequestError(
            f"this command needs {' and '.join(missing)}",
            next_step=f"pip install {' '.join(missing)} (or: pip install 'ms-migrate[run]')",
        )


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:
        return False
