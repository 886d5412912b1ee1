"""MindSpore's tensors as numpy arrays, under the names of a record."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, TypeAlias

import mindspore
import numpy as np

Array = Any
Arrays: TypeAlias = MutableMapping[str, Array]


def to_array(value: Any) -> Array:
    """A copy; numpy has no bfloat16, and float16 overflows in sums."""
    if value.dtype in (mindspore.bfloat16, mindspore.float16):
        value = value.astype(mindspore.float32)
    return np.array(value.asnumpy(), copy=True)
