"""Keep a dry run from replacing the user's files: its values are not computed, so a checkpoint
written now would destroy a good one.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any


class WouldReplace(BaseException):
    """The program is about to replace a file. Not an Exception: programs catch those."""


class FileGuard:
    """Skips checkpoints, and ends the program before it replaces an existing file."""

    def __init__(self, scratch: Path) -> None:
        self._allowed = (f"{scratch.resolve()}{os.sep}", "/dev/", "/proc/")
        # Empty files in the place of checkpoints, for programs that move or read what they saved.
        self._placeholders: set[str] = set()
        self._skipped = ""
        self._active = True

    def install(self, mindspore: Any) -> None:
        mindspore.save_checkpoint = self._save_checkpoint
        for name in ("mindspore.train.serialization", "mindspore.train"):
            if name in sys.modules:
                vars(sys.modules[name])["save_checkpoint"] = self._save_checkpoint
        sys.addaudithook(self._audit)

    def notes(self) -> list[str]:
        if not self._skipped:
            return []
        return [f"checkpoints were not written ({self._skipped}): there are no values to save"]

    def remove_placeholders(self) -> None:
        self._active = False
        for path in self._placeholders:
            with suppress(OSError):
                if os.path.getsize(path) == 0:
                    os.unlink(path)

    def _save_checkpoint(self, save_obj: Any, ckpt_file_name: Any, *_: Any, **__: Any) -> None:
        path = os.path.realpath(str(ckpt_file_name))
        self._skipped = self._skipped or str(ckpt_file_name)
        if not os.path.exists(path):
            Path(path).touch()
            self._placeholders.add(path)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._active:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, (str, bytes)) and isinstance(flags, int) and flags & os.O_TRUNC:
                self._refuse(path)
        elif event == "os.rename":
            source, destination = arguments[:2]
            self._refuse(destination)
            if os.path.realpath(os.fsdecode(source)) in self._placeholders:
                self._placeholders.add(os.path.realpath(os.fsdecode(destination)))

    def _refuse(self, path: str | bytes) -> None:
        where = os.path.realpath(os.fsdecode(path))
        if where.startswith(self._allowed):
            return
        with suppress(OSError):
            if os.path.isfile(where) and os.path.getsize(where) > 0:
                raise WouldReplace(where)
