"""A folder of the program that is called like a package which a framework imports: `triton/`.

Python finds the program's, wherever the import stands. Here frameworks are given the installed
package, or none, and the program its own.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

_FRAMEWORKS = frozenset({"torch", "torchvision", "mindspore"})


class _Imports:
    """Python's import statement, which looks at who asks."""

    def __init__(self) -> None:
        self.folders: list[str] = []
        self.plain = builtins.__import__
        # What the frameworks were given, by the name of the package.
        self._installed: dict[str, dict[str, ModuleType]] = {}

    def __call__(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        asked_by = str((globals or {}).get("__name__", "")).partition(".")[0]
        root = name.partition(".")[0]
        if level or asked_by not in _FRAMEWORKS or not self._is_programs(root):
            return self.plain(name, globals, locals, fromlist or (), level)
        own = self._take_out(root)
        sys.modules.update(self._installed.get(root, {}))
        path = list(sys.path)
        sys.path[:] = [entry for entry in path if os.path.realpath(entry) not in self.folders]
        try:
            return self.plain(name, globals, locals, fromlist or (), level)
        finally:
            sys.path[:] = path
            self._installed[root] = self._take_out(root)
            sys.modules.update(own)

    def _is_programs(self, root: str) -> bool:
        if root in _FRAMEWORKS:
            return False
        loaded = sys.modules.get(root)
        if loaded is not None:
            place = os.path.realpath(getattr(loaded, "__file__", None) or "/")
            return place.startswith(tuple(f"{folder}{os.sep}" for folder in self.folders))
        return any(
            os.path.isdir(os.path.join(folder, root))
            or os.path.isfile(os.path.join(folder, f"{root}.py"))
            for folder in self.folders
        )

    @staticmethod
    def _take_out(root: str) -> dict[str, ModuleType]:
        names = [name for name in sys.modules if name.partition(".")[0] == root]
        return {name: sys.modules.pop(name) for name in names}


def put_on_path(folder: Path | str) -> None:
    """Let the program import from the folder; frameworks go on importing what is installed."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    current: Any = builtins.__import__
    if not isinstance(current, _Imports):
        current = builtins.__import__ = _Imports()
    current.folders.append(os.path.realpath(folder))
