"""Call a compiled step twice from the same start: are its gradients the same?

Some of MindSpore's kernels change their own settings when a graph runs: the gradient of ops.pad,
for one, is right at the first call and wrong from the second on. A single step does not show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindspore
import numpy as np
from mindspore import nn, ops

from migrate.parity.mindspore_side.arrays import Arrays, to_array
from migrate.parity.workers.spill_dict import SpillDict

# Of the largest element: threads that add in another order differ by far less.
_BOUND = 1e-3


class Start:
    """Parameters and buffers before the step."""

    def __init__(self, model: nn.Cell) -> None:
        self._parameters = list(model.get_parameters())
        self._values = SpillDict()
        for place, parameter in enumerate(self._parameters):
            self._values[str(place)] = to_array(parameter)

    def restore(self) -> None:
        for place, parameter in enumerate(self._parameters):
            value = mindspore.Tensor(self._values[str(place)])
            # Not set_data: a graph that has run keeps the memory that its parameters had.
            ops.assign(parameter, value.astype(parameter.dtype))


def compare(again: Sequence[tuple[str, Any]], arrays: Arrays) -> list[str]:
    """Put the gradients of the second call where they differ from those of the first, for the
    comparison with torch to judge them, and say so.
    """
    changed = []
    for name, slope in again:
        first, second = arrays[f"gradient:{name}"], to_array(slope)
        scale = max(float(np.abs(first).max(initial=0.0)), 1e-30)
        if not np.abs(second - first).max(initial=0.0) <= _BOUND * scale:
            arrays[f"gradient:{name}"] = second
            changed.append(name)
    if not changed:
        return []
    return [
        f"the compiled step was called twice with the same weights and inputs; at the second call "
        f"{len(changed)} of {len(again)} gradients differ ({changed[0]} first), and these are the "
        "ones compared: a kernel or the program keeps something from the first call"
    ]
