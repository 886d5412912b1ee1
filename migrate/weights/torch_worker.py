"""The torch side of a conversion, in a worker: checkpoint to safetensors, back, and a model's
layers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from migrate.errors import RequestError
from migrate.files import torch_checkpoints
from migrate.files.checkpoint_states import find_state
from migrate.parity.workers import record
from migrate.parity.workers.worker_main import Progress
from migrate.weights import nested

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
    if job.get("whole"):
        _read_whole(job, source)
        return
    try:
        state, place, beside = find_state(torch_checkpoints.load(source), job["key"], torch.Tensor)
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


def _read_whole(job: dict[str, Any], source: Path) -> None:
    """Every tensor of a training checkpoint, and the description of what holds them."""
    from safetensors.torch import save_file

    tensors: dict[str, torch.Tensor] = {}

    def name_of(value: Any) -> str | None:
        if not isinstance(value, (torch.Tensor, np.ndarray)):
            return None
        kind = "tensor" if isinstance(value, torch.Tensor) else "array"
        name = f"{kind}.{len(tensors)}"
        held = value if kind == "tensor" else torch.from_numpy(np.ascontiguousarray(value))
        tensors[name] = held.detach().clone().contiguous()
        return name

    try:
        described = nested.describe(torch_checkpoints.load(source), name_of)
    except RequestError as error:
        raise RequestError(error.what, where=str(source), next_step=error.next_step) from error
    save_file(tensors, job["tensors"])
    said = {"place": "", "beside": [], "left": [], "tied": [], "structure": described}
    record.write_json(Path(job["info"]), said)


def _write(job: dict[str, Any]) -> None:
    from safetensors.torch import load_file

    tensors = {name: value.clone() for name, value in load_file(job["tensors"]).items()}
    if "structure" in job:
        torch.save(nested.rebuild(job["structure"], tensors.__getitem__), job["target"])
        return
    torch.save(tensors, job["target"])


def _structure(job: dict[str, Any]) -> None:
    from migrate.parity.torch_side import model as torch_model
    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()
    _, modules = torch_model.build(job["model"], 0)
    record.write_json(Path(job["info"]), {"modules": [module.to_json() for module in modules]})
