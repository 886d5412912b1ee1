"""Hooks on every submodule, the same in both frameworks: what goes in, what comes out, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from migrate.parity.request import inputs
from migrate.parity.workers import structure


@dataclass
class Event:
    """One call of one submodule; tensors by their keys."""

    path: str
    call: int
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    ways: list[str] = field(default_factory=list)
    called: structure.Place | None = None


class Watch:
    """Notes every call; how a tensor is kept, and its gradient, is the framework's own."""

    def __init__(
        self, modules: Iterable[tuple[str, Any]], is_tensor: Callable[[Any], bool]
    ) -> None:
        self.events: list[Event] = []
        self.entered: list[Event] = []  # begun and not ended: where a model that stops has stopped
        self._is_tensor = is_tensor
        self._calls: dict[str, int] = {}
        self._handles: list[Any] = []
        for path, module in modules:
            before, after = self._before(path), self._after(path)
            self._handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
            self._handles.append(module.register_forward_hook(after, with_kwargs=True))

    def close(self) -> None:
        for handle in self._handles:
            handle.remove()

    def key(self, tensor: Any) -> str:
        """Keep the tensor, once, and say under which name."""
        raise NotImplementedError

    def _before(self, path: str) -> Callable[..., None]:
        def hook(module: Any, args: Any, kwargs: Any) -> None:
            call = self._calls.get(path, 0)
            self._calls[path] = call + 1
            event = Event(path, call, called=structure.user_frame())
            for _, tensor in inputs.flatten((args, kwargs), self._is_tensor):
                event.inputs.append(self.key(tensor))
            self.entered.append(event)

        return hook

    def _after(self, path: str) -> Callable[..., None]:
        def hook(module: Any, args: Any, kwargs: Any, output: Any) -> None:
            event = self.entered.pop()
            for way, tensor in inputs.flatten(output, self._is_tensor):
                event.outputs.append(self.key(tensor))
                event.ways.append(way)
            self.events.append(event)

        return hook
