"""Arrays kept by name: in memory while they are few, in a file beyond that.

A step records several times what the model itself holds; kept in memory, a model of half a billion
parameters would need thirty gigabytes for what is only read back one tensor at a time.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"

# Bytes: a run fills three shelves, beside a model in float64 and its gradients.
IN_MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 32


class SpillDict(MutableMapping[str, Array]):
    """A dict of arrays that grows on disk. The file has no name: it goes when the process does."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._room = in_memory
        self._held: dict[str, Array] = {}
        self._filed: dict[str, tuple[int, np.dtype[Any], tuple[int, ...]]] = {}
        self._file: IO[bytes] | None = None

    def __setitem__(self, name: str, array: Array) -> None:
        self.pop(name, None)
        if array.nbytes <= self._room:
            self._room -= array.nbytes
            self._held[name] = array
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the mapping)
        place = self._file.seek(0, 2)
        self._file.write(raw(array))
        self._filed[name] = (place, array.dtype, array.shape)

    def __getitem__(self, name: str) -> Array:
        if name in self._held:
            return self._held[name]
        place, dtype, shape = self._filed[name]
        array: Array = np.empty(shape, dtype)
        assert self._file is not None
        self._file.seek(place)
        self._file.readinto(raw(array))  # type: ignore[attr-defined]
        return array

    def __delitem__(self, name: str) -> None:
        if name in self._held:
            self._room += self._held.pop(name).nbytes
        else:
            del self._filed[name]  # its bytes stay in the file, unread

    def __iter__(self) -> Iterator[str]:
        yield from self._held
        yield from self._filed

    def __len__(self) -> int:
        return len(self._held) + len(self._filed)


class Adapted(Mapping[str, Array]):
    """The arrays of another mapping, each changed when it is asked for."""

    def __init__(self, source: Mapping[str, Any], adapt: Callable[[str, Any], Array]) -> None:
        self._source, self._adapt = source, adapt

    def __getitem__(self, name: str) -> Array:
        return self._adapt(name, self._source[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._source)

    def __len__(self) -> int:
        return len(self._source)


def raw(array: Array) -> memoryview:
    """An array's bytes in their order, without a copy where they lie so already."""
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
