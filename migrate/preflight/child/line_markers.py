"""Write the source line that runs into MindSpore's log, so that kernels can be told by line.

The log goes to stderr, in order; a marker before each line of the user's files says where the
operators that follow come from.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from types import FrameType
from typing import Any

MARK = "[ms-migrate] at "
BEGIN = "[ms-migrate] begin"
_HELPERS = ("ms_migrate_helpers.py", "ms_migrate_helpers")
# Folders of installed packages have these names wherever they lie: below another environment that
# this one was given on its path, too.
_PACKAGES = frozenset({"site-packages", "dist-packages"})


class UserFiles:
    """Which files are the program's own: neither installed packages nor this one, nor helpers."""

    def __init__(self, roots: Sequence[str], installed: Sequence[str] = ()) -> None:
        self._roots = tuple(f"{os.path.abspath(root)}{os.sep}" for root in roots)
        paths = sysconfig.get_paths()
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        places = {paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"], package}
        places |= set(installed)
        self._installed = tuple(f"{os.path.abspath(place)}{os.sep}" for place in places)
        self.has = cache(self._has)

    def _has(self, path: str) -> bool:
        if path.startswith("<") or is_helper(path):
            return False
        path = os.path.abspath(path)
        if path.startswith(self._roots):
            return True
        return not (path.startswith(self._installed) or _PACKAGES & set(path.split(os.sep)))


def is_helper(path: str) -> bool:
    """Of the module that `port` writes beside the ported files."""
    return any(part in _HELPERS for part in path.split(os.sep))


class LineMarkers:
    """Follows the lines of the user's files in the main thread."""

    def __init__(self, files: UserFiles) -> None:
        self.files = files
        self._last: tuple[str, int] | None = None

    def start(self) -> None:
        """From here on what runs is the program's: earlier kernels built the model."""
        os.write(2, f"{BEGIN}\n".encode())
        sys.settrace(self._enter)

    def stop(self) -> None:
        sys.settrace(None)
        self._mark("", 0)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not self.files.has(frame.f_code.co_filename):
            return None
        self._mark(frame.f_code.co_filename, frame.f_lineno)
        return self._inside

    def _inside(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._mark(frame.f_code.co_filename, frame.f_lineno)
        elif event == "return":
            caller = frame.f_back
            while caller is not None and not self.files.has(caller.f_code.co_filename):
                caller = caller.f_back
            if caller is None:
                self._mark("", 0)
            else:
                self._mark(caller.f_code.co_filename, caller.f_lineno)
        return self._inside

    def _mark(self, file: str, line: int) -> None:
        if self._last != (file, line):
            self._last = (file, line)
            place = f"{os.path.abspath(file)}:{line}" if file else "-"
            os.write(2, f"{MARK}{place}\n".encode())
