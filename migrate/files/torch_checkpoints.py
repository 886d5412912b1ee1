"""Read and write torch checkpoints (worker only), never unpickling anything but tensors."""

from __future__ import annotations

import argparse
import pathlib
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from migrate.errors import RequestError
from migrate.files.checkpoint_states import common_prefix, find_state

# What training scripts save beside the model: holders of plain values, which run nothing.
_HARMLESS = (
    argparse.Namespace,
    pathlib.PosixPath,
    pathlib.PurePosixPath,
    np.core.multiarray.scalar,
    np.dtype,
    *(type(np.dtype(name)) for name in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "?")),
)


def load(path: Path) -> Any:
    """torch.load with weights_only: a file that wants to run code is refused, and named as such."""
    try:
        with torch.serialization.safe_globals(list(_HARMLESS)):
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        said = str(error)
        if not _begins_as_saved(path):
            problem = ValueError("its first bytes are not those of a saved file")
            raise _damaged(path, problem) from error
        if "WeightsUnpickler" in said or "weights_only" in said or "Unsupported" in said:
            raise RequestError(
                "holds more than tensors: loading it would run code from the file, so it is refused"
                f" ({_reason(said)})",
                where=str(path),
                next_step="save only the state dict: torch.save(model.state_dict(), ...)",
            ) from error
        raise _damaged(path, error) from error
    except (RuntimeError, EOFError, OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise _damaged(path, error) from error


def _begins_as_saved(path: Path) -> bool:
    """A zip archive, or a pickle with its protocol, as torch wrote before version 1.6."""
    with path.open("rb") as file:
        return file.read(2).startswith((b"PK", b"\x80"))


def _damaged(path: Path, error: Exception) -> RequestError:
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return RequestError(
        f"is not a whole torch checkpoint ({first})",
        where=str(path),
        next_step="fetch or save the file again",
    )


def _reason(text: str) -> str:
    lines = [
        line.strip() for line in text.splitlines() if "GLOBAL" in line or "Unsupported" in line
    ]
    return lines[0][:200] if lines else text.splitlines()[0][:200]


def read_state(path: Path) -> dict[str, Any]:
    """A checkpoint's tensors as numpy arrays, without wrapping prefixes: what a model can load."""
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        state: dict[str, Any] = load_file(path)
    else:
        state, _, _ = find_state(load(path), "", torch.Tensor)
    prefix = common_prefix(state)
    return {
        name.removeprefix(prefix): value.detach().float().numpy()
        if value.dtype == torch.bfloat16
        else value.detach().numpy()
        for name, value in state.items()
        if isinstance(value, torch.Tensor)
    }
