"""The helper module that `port` writes looks at values while it runs: not in a dry run.

It compares the first gradients with zero, to notice a compiler that lost them. In a dry run all
values are zero. Where it gives up a compiled step for another reason, that reason is recorded.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from migrate.preflight.child.line_markers import UserFiles

_NOT_COMPILED = "the step is not compiled"


def skip_value_checks(module: ModuleType) -> None:
    """Answer the helper's questions about gradients: all is well."""
    for name in ("_are_zero", "_are_lost", "are_zero", "are_lost"):
        if callable(getattr(module, name, None)):
            setattr(module, name, _no)
    for name in ("_look_for_gradients", "look_for_gradients"):
        if callable(getattr(module, name, None)):
            setattr(module, name, _nothing)


def _no(*_: Any) -> bool:
    return False


def _nothing(*_: Any) -> None:
    return None


class NotCompiled:
    """Records the steps that a program wanted compiled and the helper had to run eagerly."""

    def __init__(self, files: UserFiles) -> None:
        self._files = files
        self.found: list[dict[str, Any]] = []

    def install(self) -> None:
        show = warnings.showwarning
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = self._watched(show)

    def _watched(self, show: Callable[..., None]) -> Callable[..., None]:
        def showwarning(message: Any, *args: Any, **kwargs: Any) -> None:
            text = str(message)
            if text.startswith(_NOT_COMPILED):
                file, line = self._user_line()
                self.found.append({"text": text.rpartition("mode: ")[2], "place": [file, line]})
            show(message, *args, **kwargs)

        return showwarning

    def _user_line(self) -> tuple[str, int]:
        frame = sys._getframe()
        while frame.f_back is not None:
            if self._files.has(frame.f_code.co_filename):
                return frame.f_code.co_filename, frame.f_lineno
            frame = frame.f_back
        return "", 0
