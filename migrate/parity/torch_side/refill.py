"""Call a submodule again as it was called, with other tensors in the same places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def refill(value: Any, supply: Iterator[Any], is_tensor: Callable[[Any], bool]) -> Any:
    """The same nesting with its tensors replaced by the supply's, in order."""
    if is_tensor(value):
        return next(supply)
    if isinstance(value, dict):
        return {key: refill(item, supply, is_tensor) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(refill(item, supply, is_tensor) for item in value))
    if isinstance(value, (tuple, list)):
        return type(value)(refill(item, supply, is_tensor) for item in value)
    return value
