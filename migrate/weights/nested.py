"""A whole training checkpoint as tensors and a description, as ported programs save it.

The description is JSON: each value is a plain one, or an object of one key that says what it is
(`tensor`, `array`, `dict`, `list`, `tuple`, `namespace`). migrate/emit/helpers/checkpoint.py writes
and reads the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from migrate.errors import RequestError

STRUCTURE = "structure"


def describe(value: Any, name_of: Callable[[Any], str | None], path: str = "") -> Any:
    """The description of a value; `name_of` puts a tensor aside and says under which name."""
    name = name_of(value)
    if name is not None:
        return {name.partition(".")[0]: name}
    if isinstance(value, argparse.Namespace):
        return {"namespace": describe(vars(value), name_of, path)}
    if isinstance(value, dict):
        pairs = [
            [describe(key, name_of, path), describe(item, name_of, f"{path}.{key}".lstrip("."))]
            for key, item in value.items()
        ]
        return {"dict": pairs}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [describe(item, name_of, f"{path}[{i}]") for i, item in enumerate(value)]}
    if hasattr(value, "item") and not hasattr(value, "__len__"):  # a number of numpy's
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "__fspath__"):
        return str(value)
    raise RequestError(
        f"holds a {type(value).__name__} at {path or 'its top'}: no MindSpore checkpoint can",
        next_step="convert only the model, without --whole",
    )


def rebuild(described: Any, tensor_of: Callable[[str], Any]) -> Any:
    """The value of a description."""
    if not isinstance(described, dict):
        return described
    ((kind, content),) = described.items()
    if kind in ("tensor", "array"):
        return tensor_of(content)
    if kind == "namespace":
        return argparse.Namespace(**rebuild(content, tensor_of))
    if kind == "dict":
        return {rebuild(key, tensor_of): rebuild(item, tensor_of) for key, item in content}
    items = [rebuild(item, tensor_of) for item in content]
    return tuple(items) if kind == "tuple" else items
