"""The MindSpore side of a conversion, in a worker: checkpoint to safetensors, back, and a model's
cells.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import mindspore
import numpy as np

from migrate.errors import RequestError
from migrate.files.checkpoint_states import find_state
from migrate.parity.workers import record
from migrate.parity.workers.worker_main import Progress
from migrate.weights import blobs, nested
from migrate.weights.blobs import Blob

_NUMPY = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}
_BLOB = {numpy: blob for blob, numpy in _NUMPY.items()}


def run(job: dict[str, Any], progress: Progress) -> None:
    """Do one of: read, write, structure."""
    progress.enter(job["do"])
    mindspore.set_device("CPU")
    {"read": _read, "write": _write, "structure": _structure}[job["do"]](job)


def _read(job: dict[str, Any]) -> None:
    source = Path(job["source"])
    try:
        # MindSpore insists on its ending; ported programs save under torch's.
        with tempfile.TemporaryDirectory() as folder:
            link = Path(folder, "source.ckpt")
            link.symlink_to(source.resolve())
            found = mindspore.load_checkpoint(str(link))
    except Exception as error:
        # Whatever the loader raises on a damaged file, the user needs to know only that it is.
        first = next((line for line in str(error).splitlines() if line.strip()), "unreadable")
        raise RequestError(
            f"is not a whole MindSpore checkpoint ({first[:200]})",
            where=str(source),
            next_step="fetch or save the file again",
        ) from error
    if nested.STRUCTURE in found:
        _read_nested(job, found)
        return
    tensors: dict[str, Blob] = {}
    left: list[str] = []
    for name, parameter in found.items():
        if isinstance(parameter, mindspore.Tensor):
            tensors[name] = _to_blob(parameter)
        else:
            left.append(name)
    blobs.write(Path(job["tensors"]), tensors)
    record.write_json(Path(job["info"]), {"place": "", "beside": [], "left": left, "tied": []})


def _read_nested(job: dict[str, Any], found: dict[str, Any]) -> None:
    """What a ported program saved: the model's state under torch's names, or everything."""
    described = json.loads(found[nested.STRUCTURE].asnumpy().tobytes().decode())
    if job.get("whole"):
        held = {name: _to_blob(v) for name, v in found.items() if name != nested.STRUCTURE}
        blobs.write(Path(job["tensors"]), held)
        said = {"place": "", "beside": [], "left": [], "tied": [], "structure": described}
        record.write_json(Path(job["info"]), said)
        return
    whole = nested.rebuild(described, lambda name: found[name])
    try:
        state, place, beside = find_state(whole, job["key"], mindspore.Tensor)
    except RequestError as error:
        raise RequestError(error.what, where=job["source"], next_step=error.next_step) from error
    tensors = {n: _to_blob(v) for n, v in state.items() if isinstance(v, mindspore.Tensor)}
    left = [name for name in state if name not in tensors]
    blobs.write(Path(job["tensors"]), tensors)
    said = {"place": place, "beside": beside, "left": left, "tied": [], "names": "torch"}
    record.write_json(Path(job["info"]), said)


def _to_blob(value: Any) -> Blob:
    shape = tuple(value.shape)
    if value.dtype == mindspore.bfloat16:
        # bfloat16 is the upper half of float32, so nothing is lost either way.
        wide = np.ascontiguousarray(value.astype(mindspore.float32).asnumpy())
        return Blob("BF16", shape, (wide.view(np.uint32) >> 16).astype("<u2").tobytes())
    array = np.ascontiguousarray(value.asnumpy())
    return Blob(_BLOB[array.dtype.name], shape, array.tobytes())


def _to_tensor(blob: Blob) -> Any:
    if blob.dtype == "BF16":
        narrow = np.frombuffer(blob.data, dtype="<u2").astype(np.uint32) << 16
        wide = narrow.view(np.float32).reshape(blob.shape)
        return mindspore.Tensor(wide, mindspore.bfloat16)
    array = np.frombuffer(blob.data, dtype=_NUMPY[blob.dtype]).reshape(blob.shape)
    return mindspore.Tensor(array.copy())


def _write(job: dict[str, Any]) -> None:
    tensors, _ = blobs.read(Path(job["tensors"]))
    entries = [{"name": name, "data": _to_tensor(blob)} for name, blob in tensors.items()]
    if "structure" in job:
        text = json.dumps(job["structure"]).encode()
        held = mindspore.Tensor(np.frombuffer(text, np.uint8).copy())
        entries.append({"name": nested.STRUCTURE, "data": held})
    # MindSpore adds its ending to any other; ported programs read theirs under torch's.
    written = f"{job['target'].removesuffix('.ckpt')}.ckpt"
    mindspore.save_checkpoint(entries, written)
    os.replace(written, job["target"])
    os.chmod(job["target"], 0o644)


def _structure(job: dict[str, Any]) -> None:
    from migrate.parity.mindspore_side import model as mindspore_model

    _, modules = mindspore_model.build(job["model"], 0)
    record.write_json(Path(job["info"]), {"modules": [module.to_json() for module in modules]})
