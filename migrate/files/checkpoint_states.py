"""Where the model is in a training checkpoint, of either framework."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from migrate.errors import RequestError

# Where training scripts put the model inside a checkpoint, most specific first.
_PLACES = (
    "state_dict",
    "model_state_dict",
    "model_state",
    "model",
    "net",
    "network",
    "module",
    "params",
)


def find_state(found: Any, key: str, tensor: type) -> tuple[dict[str, Any], str, list[str]]:
    """The state dict inside a checkpoint, the way to it, and what lies beside it."""
    if key:
        inner = found.get(key) if isinstance(found, dict) else None
        if not isinstance(inner, dict) or not _is_state(inner, tensor):
            raise RequestError(
                f"there is no state dict under {key!r}", next_step=_offer(found, tensor)
            )
        return inner, key, [str(other) for other in found if other != key]
    if _is_state(found, tensor):
        return found, "", []
    if isinstance(found, dict):
        inside = {str(name): value for name, value in found.items() if _is_state(value, tensor)}
        place = next((name for name in _PLACES if name in inside), None)
        if place is None and len(inside) == 1:
            place = next(iter(inside))
        if place is not None:
            return inside[place], place, [str(name) for name in found if name != place]
        if inside:
            raise RequestError("holds several state dicts", next_step=_offer(found, tensor))
    raise RequestError("holds no state dict", next_step="save model.state_dict() and convert that")


def _offer(found: Any, tensor: type) -> str:
    names = (
        [str(k) for k, v in found.items() if _is_state(v, tensor)]
        if isinstance(found, dict)
        else []
    )
    return f"choose one with --key: {', '.join(names)}" if names else "it holds none"


def _is_state(value: Any, tensor: type) -> bool:
    """A dict of names to tensors; a few plain numbers among them are tolerated."""
    if not isinstance(value, dict) or not value:
        return False
    tensors = [v for v in value.values() if isinstance(v, tensor)]
    return (
        bool(tensors)
        and len(tensors) >= 0.5 * len(value)
        and all(isinstance(k, str) for k in value)
    )


PREFIXES = ("module.", "model.", "_orig_mod.", "net.", "backbone.")


def common_prefix(names: Iterable[str]) -> str:
    """The wrapping that every name carries, such as `module.`; a model of one layer is not
    wrapped.
    """
    known = list(names)
    found = ""
    while True:
        step = next(
            (p for p in PREFIXES if known and all(n.startswith(found + p) for n in known)), ""
        )
        if not step:
            return found
        found += step
