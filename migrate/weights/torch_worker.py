"""The torch side of a conversion, in a worker: checkpoint to safetensors, back, and a model's
layers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from migrate.errors import RequestError
from migrate.parity.workers import record
from migrate.parity.workers.worker_main import Progress
from migrate.weights import torch_files

_TYPES = (
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)


def run(job: dict[str, Any], progress: Progress) -> None:
    """Do one of: read, write, structure."""
    progress.enter(job["do"])
    {"read": _read, "write": _write, "structure": _structure}[job["do"]](job)


def _read(job: dict[str, Any]) -> None:
    from safetensors.torch import save_file

    source = Path(job["source"])
    try:
        state, place, beside = torch_files.find_state(torch_files.load(source), job["key"])
    except RequestError as error:
        raise RequestError(error.what, where=str(source), next_step=error.next_step) from error
    found = {name: value for name, value in state.items() if isinstance(value, torch.Tensor)}
    for name, value in found.items():
        if value.layout != torch.strided or value.is_quantized or value.dtype not in _TYPES:
            kind = "sparse" if value.layout != torch.strided else str(value.dtype)
            raise RequestError(
                f"holds {kind.removeprefix('torch.')} tensors ({name}), which are not converted",
                where=str(source),
                next_step="convert them to a plain float or integer type first",
            )
    tensors = {name: value.detach().clone().contiguous() for name, value in found.items()}
    left = [name for name in state if name not in tensors]
    # Tied weights share memory; say which, since the copy does not.
    owners: dict[tuple[int, int, tuple[int, ...]], list[str]] = {}
    for name, value in state.items():
        if isinstance(value, torch.Tensor) and value.numel():
            where = (value.data_ptr(), value.storage_offset(), tuple(value.shape))
            owners.setdefault(where, []).append(name)
    tied = [names for names in owners.values() if len(names) > 1]
    save_file(tensors, job["tensors"])
    record.write_json(
        Path(job["info"]), {"place": place, "beside": beside, "left": left, "tied": tied}
    )


def _write(job: dict[str, Any]) -> None:
    from safetensors.torch import load_file

    tensors = {name: value.clone() for name, value in load_file(job["tensors"]).items()}
    torch.save(tensors, job["target"])


def _structure(job: dict[str, Any]) -> None:
    from migrate.parity.torch_side import model as torch_model
    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()
    _, modules = torch_model.build(job["model"], 0)
    record.write_json(Path(job["info"]), {"modules": [module.to_json() for module in modules]})
