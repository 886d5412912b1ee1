"""Tensors as bytes with a type and a shape: what goes in comes out bit for bit, bfloat16
included.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from migrate.errors import RequestError, describe
from migrate.files.atomic import replacing

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


@dataclass(frozen=True)
class Blob:
    """One tensor."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes | bytearray

    def reshaped(self, shape: tuple[int, ...]) -> Blob:
        assert prod(shape) == prod(self.shape)
        return replace(self, shape=shape)


def read(path: Path) -> tuple[dict[str, Blob], dict[str, str]]:
    """Read a safetensors file whole, with its metadata; refuse a damaged one in words.

    Parsed by the library, which checks types, sizes and offsets; the bytes are taken as they are,
    since numpy has no bfloat16.
    """
    from safetensors import SafetensorError, deserialize, safe_open

    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
        raw = path.read_bytes()
        found = deserialize(raw)
        _refuse_twice(raw)
    except (SafetensorError, OSError, ValueError, OverflowError) as error:
        raise RequestError(
            f"is not a whole safetensors file ({describe(error)})",
            where=str(path),
            next_step="fetch or save the file again",
        ) from error
    blobs = {}
    for name, entry in found:
        if entry["dtype"] not in _SIZES:
            raise RequestError(
                f"holds {entry['dtype']} tensors ({name}), which are not converted",
                where=str(path),
                next_step="convert them to a plain float or integer type first",
            )
        blobs[name] = Blob(entry["dtype"], tuple(entry["shape"]), entry["data"])
    return blobs, metadata


def _refuse_twice(raw: bytes) -> None:
    """The library takes the last of two tensors with one name; which one was meant is not known."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(named := dict(pairs)) < len(pairs):
            raise ValueError("a name stands twice in its header")
        return named

    json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")], object_pairs_hook=once)


def write(path: Path, blobs: Mapping[str, Blob], metadata: Mapping[str, str] | None = None) -> None:
    """Write a safetensors file that is whole or not there."""
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
    with replacing(path) as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for name in order:
            file.write(blobs[name].data)
