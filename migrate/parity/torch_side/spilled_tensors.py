"""Tensors of a run that are needed again later, kept as a SpillDict keeps arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch

from migrate.parity.workers.spill_dict import SpillDict


class Tensors(Mapping[str, torch.Tensor]):
    """Copies of tensors by name."""

    def __init__(self, tensors: Mapping[str, torch.Tensor] | None = None) -> None:
        self._shelf = SpillDict()
        for name, tensor in (tensors or {}).items():
            self[name] = tensor

    def __setitem__(self, name: str, tensor: torch.Tensor) -> None:
        copied = tensor.detach().to("cpu", copy=True).contiguous()
        # numpy has no bfloat16.
        self._shelf[name] = (copied.float() if copied.dtype == torch.bfloat16 else copied).numpy()

    def __getitem__(self, name: str) -> torch.Tensor:
        return torch.from_numpy(self._shelf[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._shelf)

    def __len__(self) -> int:
        return len(self._shelf)
