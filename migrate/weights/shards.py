"""Checkpoints in several files, with an index that says where each tensor is.

model.safetensors.index.json    model-00001-of-00002.safetensors, model-00002-of-00002.safetensors
pytorch_model.bin.index.json    pytorch_model-00001-of-00002.bin, ...
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from migrate.errors import RequestError
from migrate.files.atomic import replacing
from migrate.files.plain import read_json
from migrate.weights import blobs
from migrate.weights.blobs import Blob

SAFE_INDEX = ".safetensors.index.json"
TORCH_INDEX = ".bin.index.json"
LARGEST = 5_000_000_000  # bytes of tensors in one file, as model hubs have it


def read(index: Path, read_one: Callable[[Path], dict[str, Blob]]) -> dict[str, Blob]:
    """The tensors of all files that an index names."""
    try:
        places = dict(read_json(index)["weight_map"])
        paths = [index.parent / Path(str(name)).name for name in sorted(set(places.values()))]
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise RequestError("is not the index of a sharded checkpoint", where=str(index)) from error
    tensors: dict[str, Blob] = {}
    for path in paths:
        if not path.is_file():
            raise RequestError("is named by the index, and not there", where=str(path))
        tensors |= read_one(path)
    missing = [name for name in places if name not in tensors]
    if missing:
        raise RequestError(
            f"names {len(missing)} tensors that no file holds, the first of them {missing[0]}",
            where=str(index),
            next_step="fetch the files of the checkpoint again",
        )
    return tensors


def write(
    index: Path, tensors: Mapping[str, Blob], metadata: Mapping[str, str], *, force: bool
) -> None:
    """Files of at most LARGEST bytes, and then their index: who finds it finds all of them."""
    parts = _parts(tensors)
    stem = index.name.removesuffix(SAFE_INDEX)
    names = [f"{stem}-{n:05d}-of-{len(parts):05d}.safetensors" for n in range(1, len(parts) + 1)]
    for name in names:
        if os.path.lexists(index.parent / name) and not force:
            raise RequestError(
                "exists already",
                where=str(index.parent / name),
                next_step="add --force to overwrite it",
            )
    places: dict[str, str] = {}
    for name, part in zip(names, parts, strict=True):
        blobs.write(index.parent / name, {key: tensors[key] for key in part}, metadata)
        places |= dict.fromkeys(part, name)
    total = sum(len(blob.data) for blob in tensors.values())
    text = json.dumps({"metadata": {"total_size": total}, "weight_map": places}, indent=2)
    with replacing(index) as file:
        file.write(text.encode() + b"\n")


def _parts(tensors: Mapping[str, Blob]) -> list[list[str]]:
    """The names in their order, cut before a file grows too large; a tensor is never cut."""
    parts: list[list[str]] = [[]]
    size = 0
    for name, blob in tensors.items():
        if parts[-1] and size + len(blob.data) > LARGEST:
            parts.append([])
            size = 0
        parts[-1].append(name)
        size += len(blob.data)
    return parts
