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
_NAMES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}


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
    """Read a safetensors file whole, with its metadata; refuse a damaged one in words."""
    from safetensors import SafetensorError, deserialize

    try:
        content = path.read_bytes()
        found = deserialize(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    except (SafetensorError, ValueError, OSError) as error:
        raise RequestError(
            f"is not a whole safetensors file ({error})",
            where=str(path),
            next_step="fetch or save the file again",
        ) from error
    blobs = {}
    for name, entry in found:
        if entry["dtype"] not in _SIZES:
            raise RequestError(
                f"holds {name} as {entry['dtype']}, which is unknown", where=str(path)
            )
        blobs[name] = Blob(entry["dtype"], tuple(entry["shape"]), bytes(entry["data"]))
    return blobs, dict(header.get("__metadata__") or {})


def write(path: Path, blobs: Mapping[str, Blob], metadata: Mapping[str, str] | None = None) -> None:
    """Write a safetensors file beside its place and move it there whole."""
    from safetensors import serialize_file

    entries: dict[str, dict[str, Any]] = {
        name: {"dtype": _NAMES[blob.dtype], "shape": list(blob.shape), "data": blob.data}
        for name, blob in blobs.items()
    }
    pending = path.with_name(f".{path.name}.part")
    try:
        serialize_file(entries, pending, dict(metadata) if metadata else None)
        os.replace(pending, path)
    finally:
        pending.unlink(missing_ok=True)
