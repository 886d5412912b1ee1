"""Tensors as bytes with a type and a shape: what goes in comes out bit for bit, bfloat16
included.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from migrate.errors import RequestError

# Bytes per element of each type that the safetensors format names.
_SIZES = {
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
}
_LONGEST_HEADER = 100_000_000


@dataclass(frozen=True)
class Blob:
    """One tensor."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def reshaped(self, shape: tuple[int, ...]) -> Blob:
        assert prod(shape) == prod(self.shape)
        return replace(self, shape=shape)


def read(path: Path) -> tuple[dict[str, Blob], dict[str, str]]:
    """Read a safetensors file whole, with its metadata; refuse a damaged one in words.

    Read here, not by the library: numpy, through which it hands tensors out, has no bfloat16.
    """
    try:
        content = path.read_bytes()
        return _parse(content)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise RequestError(
            f"is not a whole safetensors file ({error})",
            where=str(path),
            next_step="fetch or save the file again",
        ) from error


def _parse(content: bytes) -> tuple[dict[str, Blob], dict[str, str]]:
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > min(_LONGEST_HEADER, len(content) - 8):
        raise ValueError("the header is longer than the file")
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__", None) or {}
    data = memoryview(content)[8 + length :]
    blobs, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        start, stop = entry["data_offsets"]
        shape = tuple(int(size) for size in entry["shape"])
        if entry["dtype"] not in _SIZES:
            raise ValueError(f"{name} is of the unknown type {entry['dtype']}")
        if start != end or stop - start != prod(shape) * _SIZES[entry["dtype"]]:
            raise ValueError(f"{name} does not fill its place")
        if stop > len(data):
            raise ValueError(f"it ends before {name} does")
        blobs[name] = Blob(entry["dtype"], shape, bytes(data[start:stop]))
        end = stop
    if end != len(data):
        raise ValueError("there is more behind the last tensor")
    return blobs, {str(key): str(value) for key, value in metadata.items()}


def write(path: Path, blobs: Mapping[str, Blob], metadata: Mapping[str, str] | None = None) -> None:
    """Write a safetensors file beside its place and move it there whole."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    # Large elements first, so that every tensor is aligned, as the format's own writer does.
    order = sorted(blobs, key=lambda name: (-_SIZES[blobs[name].dtype], name))
    for name in order:
        blob = blobs[name]
        offsets = [end, end + len(blob.data)]
        header[name] = {"dtype": blob.dtype, "shape": list(blob.shape), "data_offsets": offsets}
        end = offsets[1]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pending = path.with_name(f".{path.name}.part")
    try:
        with pending.open("wb") as file:
            file.write(len(text).to_bytes(8, "little"))
            file.write(text)
            for name in order:
                file.write(blobs[name].data)
        os.replace(pending, path)
    finally:
        pending.unlink(missing_ok=True)
