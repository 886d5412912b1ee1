"""Reading and rewriting source needs no numpy; running and comparing does, and says so."""

from __future__ import annotations

from importlib.util import find_spec

from migrate.errors import RequestError

_PINNED = {"numpy": "'numpy>=1.26.4,<2'", "safetensors": "'safetensors>=0.4'"}


def check() -> None:
    """Refuse in words what would otherwise end in an ImportError."""
    missing = [name for name in _PINNED if not _is_there(name)]
    if missing:
        raise RequestError(
            f"this command needs {' and '.join(missing)}",
            # Unpinned, pip would bring numpy 2, with which mindspore 2.10 fails at run time.
            next_step=f"pip install {' '.join(_PINNED[name] for name in missing)}",
        )


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:
        return False
