"""Numbers that a program reads from tensors while it builds its model in a dry run, which computes
none: what is built from them (widths, depths, rates) may be another model than the real one.
"""

from __future__ import annotations

import sys
from types import FrameType, TracebackType
from typing import Any

from mindspore import Tensor

from migrate.preflight.child.line_markers import UserFiles, is_helper

_READS = ("asnumpy", "item", "tolist", "__int__", "__float__", "__index__", "__bool__")


class ValueReads:
    """`with ValueReads(files, places): build()` adds lines of the program to `places`, until `end`
    is called.
    """

    def __init__(self, files: UserFiles, places: list[tuple[str, int]]) -> None:
        self.places = places
        self._files = files
        self._originals: dict[str, Any] = {}
        self._ended = False

    def end(self) -> None:
        self._ended = True

    def __enter__(self) -> ValueReads:
        for name in _READS:
            self._originals[name] = getattr(Tensor, name)
            setattr(Tensor, name, self._noting(self._originals[name]))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name, original in self._originals.items():
            setattr(Tensor, name, original)

    def _noting(self, original: Any) -> Any:
        def read(tensor: Any, *given: Any, **named: Any) -> Any:
            if not self._ended:
                self._note(sys._getframe(1))
            return original(tensor, *given, **named)

        return read

    def _note(self, frame: FrameType | None) -> None:
        """Reads by MindSpore itself do not count: it copies what a Parameter is made from."""
        while frame is not None and is_helper(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None or not self._files.has(frame.f_code.co_filename):
            return
        place = frame.f_code.co_filename, frame.f_lineno
        if place not in self.places:
            self.places.append(place)
