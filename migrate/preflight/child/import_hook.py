"""Act on the helper module of a ported program as soon as it is imported."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from migrate.preflight.child.line_markers import is_helper

Action = Callable[[ModuleType], None]


def after_import_of_helpers(*actions: Action) -> None:
    """Call the actions with each module of helpers, vendored or of this package."""
    sys.meta_path.insert(0, _AfterImport(actions))


class _AfterImport(importlib.abc.MetaPathFinder):
    """Finds helper modules as usual, and adds the actions to their execution."""

    def __init__(self, actions: tuple[Action, ...]) -> None:
        self._actions = actions

    def find_spec(
        self, fullname: str, path: Any, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not spec.origin:
            return None
        if not is_helper(spec.origin) and not fullname.startswith("migrate.emit.helpers"):
            return None
        loader = spec.loader
        if loader is None or not hasattr(loader, "exec_module"):
            return None
        execute = loader.exec_module

        def execute_then_act(module: ModuleType) -> None:
            execute(module)
            for action in self._actions:
                action(module)

        loader.exec_module = execute_then_act  # type: ignore[method-assign]
        return spec
