"""Which lines are the user's: those of neither framework nor this package."""

from __future__ import annotations

import os
import sys
import traceback
from functools import cache

_FRAMEWORKS = ("torch", "mindspore")


@cache
def _framework_folders(loaded: tuple[str, ...]) -> tuple[str, ...]:
    folders = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]  # migrate/parity
    for name in loaded:
        origin = getattr(sys.modules[name], "__file__", None)
        if origin:
            folders.append(os.path.dirname(os.path.abspath(origin)))
    return tuple(f"{folder}{os.sep}" for folder in folders)


def is_user_file(path: str) -> bool:
    """Told by where the frameworks are installed: a user's folder may well be called mindspore."""
    if path.startswith("<"):
        return False
    loaded = tuple(name for name in _FRAMEWORKS if name in sys.modules)
    return not path.startswith(_framework_folders(loaded))


def innermost(places: list[tuple[str, int]]) -> str:
    """`file:line` of the last of these places that is the user's own, rather than a library's."""
    own = [place for place in places if is_user_file(place[0])]
    outside = [place for place in own if f"{os.sep}site-packages{os.sep}" not in place[0]]
    chosen = (outside or own)[-1:]
    return f"{chosen[0][0]}:{chosen[0][1]}" if chosen else ""


def traced(error: BaseException) -> list[tuple[str, int]]:
    """The places an error passed through, outermost first."""
    frames = traceback.extract_tb(error.__traceback__)
    return [(frame.filename, frame.lineno or 0) for frame in frames]
