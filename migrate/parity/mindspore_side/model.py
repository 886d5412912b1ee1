"""The MindSpore side's model: built, described, made deterministic, and given torch's weights."""

from __future__ import annotations

import re
from typing import Any

import mindspore
import numpy as np
from mindspore import nn

from migrate.errors import RequestError
from migrate.parity.judge.matching import Matching
from migrate.parity.request import target
from migrate.parity.workers import structure
from migrate.parity.workers.structure import ModuleInfo, Variable

RANDOM_LAYER = re.compile(r"drop(out|path|block)|stochasticdepth", re.IGNORECASE)
_DROP = ("p", "drop_prob", "drop_rate")
_KEEP = ("keep_prob",)


def quiet_functions() -> None:
    """Make MindSpore's functional dropouts do nothing; called before user code may import them by
    name.
    """

    def same(input: Any, p: float = 0.5, training: bool = True, seed: Any = None) -> Any:
        return input

    places: list[Any] = [mindspore.ops, mindspore.ops.function, mindspore.ops.function.nn_func]
    places.append(mindspore.mint.nn.functional)
    for place in places:
        for name in ("dropout", "dropout1d", "dropout2d", "dropout3d"):
            if hasattr(place, name):
                setattr(place, name, same)


def quiet_layers(model: nn.Cell, *, change: bool) -> dict[str, float]:
    """Return each random layer's probability of dropping and, if asked, set it to zero."""
    found: dict[str, float] = {}
    for path, cell in model.cells_and_names():
        if isinstance(cell, nn.MultiheadAttention):  # drops weights without a layer for it
            if cell.dropout:
                found[path] = float(cell.dropout)
            if change:
                cell.dropout = 0.0
            continue
        if not RANDOM_LAYER.search(type(cell).__name__):
            continue
        drops = [getattr(cell, name) for name in _DROP if _is_number(getattr(cell, name, None))]
        keeps = [getattr(cell, name) for name in _KEEP if _is_number(getattr(cell, name, None))]
        if drops or keeps:
            found[path] = float(drops[0]) if drops else 1.0 - float(keeps[0])
        if change:
            for names, value in ((_DROP, 0.0), (_KEEP, 1.0)):
                for name in names:
                    if _is_number(getattr(cell, name, None)):
                        setattr(cell, name, value)
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def build(target_text: str, seed: int) -> tuple[nn.Cell, list[ModuleInfo]]:
    """Build the model from its target and describe it."""
    mindspore.set_seed(seed)
    with structure.watch_construction(nn.Cell) as place_of:
        model = target.build(target.parse(target_text))
    if not isinstance(model, nn.Cell):
        raise RequestError(
            f"gives a {type(model).__name__}, not a mindspore.nn.Cell", where=target_text
        )
    return model, describe(model, place_of)


def describe(model: nn.Cell, place_of: Any = lambda cell: None) -> list[ModuleInfo]:
    """List the cells in order of definition."""
    first: dict[int, str] = {}
    described = []
    for path, cell in model.cells_and_names():
        variables = {}
        for local, (value, trainable) in _own_variables(cell).items():
            shared = first.setdefault(id(value), f"{path}.{local}" if path else local)
            dtype = str(value.dtype).lower()
            variables[local] = Variable(shared, tuple(value.shape), dtype, trainable, not trainable)
        described.append(
            ModuleInfo(
                path,
                type(cell).__name__,
                _arguments(cell),
                place_of(cell),
                structure.forward_place(type(cell).construct),
                variables,
                type(cell).__module__,
            )
        )
    return described


def _own_variables(cell: nn.Cell) -> dict[str, tuple[Any, bool]]:
    own: dict[str, tuple[Any, bool]] = {}
    for local, parameter in cell._params.items():
        if parameter is not None:
            own[local] = (parameter, bool(parameter.requires_grad))
    for local, tuple_ in getattr(cell, "_params_list", {}).items():
        for index, parameter in enumerate(tuple_):
            own[f"{local}.{index}"] = (parameter, bool(parameter.requires_grad))
    for local, buffer in getattr(cell, "_buffers", {}).items():
        if buffer is not None:
            own[local] = (buffer, False)
    return own


def variables(model: nn.Cell) -> dict[str, Any]:
    """Every parameter and buffer by the full name that `describe` gives it."""
    return {
        f"{path}.{local}" if path else local: value
        for path, cell in model.cells_and_names()
        for local, (value, _) in _own_variables(cell).items()
    }


def _arguments(cell: nn.Cell) -> str:
    """A layer's settings as it prints them, without initializers and parameters."""
    try:
        text = cell.extend_repr() or cell.extra_repr()
    except Exception:  # a user class may print anything; a description is not worth failing for
        return ""
    # A parameter prints itself at length, with commas of its own.
    text = re.sub(r"\w+=Parameter \((?:[^()]|\([^()]*\))*\)(, )?", "", text)
    parts = re.split(r",\s*(?![^()\[\]<>]*[)\]>])", text)
    return ", ".join(part for part in parts if part and not re.search(r"=\s*(<|Parameter\b)", part))


def load_weights(model: nn.Cell, matching: Matching, arrays: Any) -> None:
    """Give each parameter torch's value, reshaped where only sizes of one differ."""
    own = variables(model)
    for pair in matching.pairs:
        parameter = own[pair.mindspore]
        array = np.asarray(arrays[f"weight:{pair.torch}"]).reshape(pair.shape)
        value = mindspore.Tensor(array, dtype=parameter.dtype)
        if isinstance(parameter, mindspore.Parameter):
            parameter.set_data(value)
        else:
            parameter.assign_value(value)
