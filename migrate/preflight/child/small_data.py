"""Make the data small: each loader gives its first N batches, and the program ends when it asks
for more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any


class EnoughSteps(BaseException):
    """The program starts a second pass over a loader. Not an Exception: programs catch those."""


class Limit:
    """The limit for all loaders of a program."""

    def __init__(self, batches: int, begun: Callable[[], None]) -> None:
        self.batches = batches
        self._begun = begun  # called before the first batch
        self.given = 0  # batches, of all loaders
        self._started: dict[int, Any] = {}
        self._limited: set[tuple[type, str]] = set()

    def install(self) -> None:
        """Limit MindSpore's own loaders."""
        from mindspore import Tensor
        from mindspore.dataset.engine import datasets

        # Memory for copies to the device comes from the device's driver, which is not there.
        Tensor.pin_memory = lambda tensor, *given: tensor
        self._limit_method(datasets.Dataset, "create_tuple_iterator")
        self._limit_method(datasets.Dataset, "create_dict_iterator")
        try:
            from mindspore.dataset import dataloader
        except ImportError:  # before 2.10
            pass
        else:
            self._limit_method(dataloader.DataLoader, "__iter__")

    def notes(self) -> list[str]:
        if not self._started:
            return ["the program used no data loader that preflight knows: it ran to its end"]
        word = "one batch" if self.batches == 1 else f"{self.batches} batches"
        return [f"every data loader gave at most {word}, once"]

    def limit_helpers(self, module: ModuleType) -> None:
        """Limit the loader of a helper module; called when it was imported."""
        loader = getattr(module, "DataLoader", None)
        if isinstance(loader, type) and "__iter__" in vars(loader):
            self._limit_method(loader, "__iter__")

    def _limit_method(self, kind: type, name: str) -> None:
        original = getattr(kind, name)
        limit = self
        self._limited.add((kind, name))

        def limited(loader: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            if limit._is_inner(type(loader), kind, name):
                batches: Iterator[Any] = original(loader, *args, **kwargs)
                return batches
            if id(loader) in limit._started:
                raise EnoughSteps
            limit._begun()
            limit._started[id(loader)] = loader
            return limit._first(original(loader, *args, **kwargs))

        setattr(kind, name, limited)

    def _is_inner(self, loader: type, kind: type, name: str) -> bool:
        """Whether a derived class that is limited itself calls its base's method: one pass."""
        outer = next(one for one in loader.__mro__ if (one, name) in self._limited)
        return outer is not kind

    def _first(self, batches: Any) -> Iterator[Any]:
        for index, batch in enumerate(batches):
            if index == self.batches:
                return
            self.given += 1
            yield batch
