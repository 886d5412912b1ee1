"""A recorded step on disk: JSON that describes it, safetensors that hold it, never pickle.

A step is a folder. `start.*` says what was run and from where (plan, structure, weights, inputs);
`run.*` says what came out. The start is written first, so the other framework may begin early.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from migrate.errors import RequestError
from migrate.files.atomic import replacing, write_bytes
from migrate.files.plain import read_json
from migrate.parity.workers.spill_dict import raw

Array: TypeAlias = "npt.NDArray[Any]"

FORMAT = "ms-migrate step"
VERSION = 1
PARTS = ("start", "run")
# numpy's names of types as safetensors writes them.
_DTYPES = {
    "bool": "BOOL",
    **{f"int{bits}": f"I{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"U{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
    "complex64": "C64",
}


_owner: list[int] = []


def owned_by_this_process() -> None:
    """From here on records are this process's to write, not those of its forks."""
    _owner[:] = [os.getpid()]


def refuse_forked() -> None:
    """End a fork of the worker that user code let run on: it must not write the same record."""
    if _owner and os.getpid() != _owner[0]:
        os._exit(0)


def write_part(
    folder: Path, part: str, info: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Write one part; the JSON comes last and by rename, so whoever sees it sees a whole part."""
    refuse_forked()
    folder.mkdir(parents=True, exist_ok=True)
    tensors = folder / f"{part}.safetensors"
    _save(tensors, arrays)
    write_json(folder / f"{part}.json", {**info, "format": FORMAT, "version": VERSION})


def _save(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write safetensors one array at a time; its own writer wants all of them in memory, twice."""
    described = {}
    for name, array in arrays.items():
        described[name] = (array.dtype, array.shape or (1,), array.nbytes)
    # Wide elements first, so that each array begins at a multiple of its element's size.
    names = sorted(described, key=lambda name: (-described[name][0].itemsize, name))
    header, end = {}, 0
    for name in names:
        dtype, shape, size = described[name]
        header[name] = {
            "dtype": _DTYPES[dtype.name],
            "shape": shape,
            "data_offsets": (end, end + size),
        }
        end += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with replacing(path, durable=False) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in names:
            file.write(raw(arrays[name]))


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    refuse_forked()
    write_bytes(path, json.dumps(data).encode(), durable=False)


def identity(arrays: Mapping[str, Array]) -> str:
    """A fingerprint of weights and inputs: two steps can be compared only if they started alike."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.reshape(-1)[:256].tobytes())
    return digest.hexdigest()


def read_info(folder: Path, part: str) -> dict[str, Any]:
    """Read a part's description, refusing what is not ours or not of this version."""
    path = folder / f"{part}.json"
    if not path.is_file():
        raise RequestError(
            f"not a recorded step: it has no {part}.json",
            where=str(folder),
            next_step="record one with: ms-migrate capture torch TARGET --input SHAPE -o STEP",
        )
    try:
        info = read_json(path)
    except (OSError, ValueError) as error:
        raise RequestError(f"cannot be read as JSON ({error})", where=str(path)) from error
    if not isinstance(info, dict) or info.get("format") != FORMAT:
        raise RequestError("is not a step recorded by ms-migrate", where=str(path))
    if info.get("version") != VERSION:
        raise RequestError(
            f"was recorded in format {info.get('version')}; this version reads format {VERSION}",
            where=str(path),
            next_step="record it again with this version of ms-migrate",
        )
    return info


class Tensors:
    """The arrays of one part, read one at a time: a record may be larger than memory."""

    def __init__(self, path: Path) -> None:
        from safetensors import SafetensorError, safe_open

        self._path = path
        try:
            self._file: Any = safe_open(path, framework="np")
        except (SafetensorError, OSError) as error:
            raise RequestError(
                f"is damaged or incomplete ({error})",
                where=str(path),
                next_step="record the step again",
            ) from error
        self._names = frozenset(self._file.keys())

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> Array:
        if name not in self._names:
            raise RequestError(
                f"has no tensor {name!r}", where=str(self._path), next_step="record the step again"
            )
        array: Array = self._file.get_tensor(name)
        return array

    def get(self, name: str) -> Array | None:
        return self[name] if name in self._names else None

    def count(self, name: str) -> int:
        """How many numbers an array has, without reading them."""
        return math.prod(self._file.get_slice(name).get_shape())

    def names(self) -> list[str]:
        return sorted(self._names)


@dataclass(frozen=True)
class Step:
    """A whole recorded step."""

    folder: Path
    start: dict[str, Any]
    run: dict[str, Any]
    given: Tensors
    tensors: Tensors

    @property
    def framework(self) -> str:
        return str(self.start["framework"])


def read_start(folder: Path) -> tuple[dict[str, Any], Tensors]:
    return read_info(folder, "start"), Tensors(folder / "start.safetensors")


def read_step(folder: Path) -> Step:
    """Open a recorded step."""
    if not folder.is_dir():
        raise RequestError("no such recorded step", where=str(folder))
    start, given = read_start(folder)
    return Step(folder, start, read_info(folder, "run"), given, Tensors(folder / "run.safetensors"))
