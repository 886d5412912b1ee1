"""The torch side's model: built, described, made deterministic, and put into the state both sides
start from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from migrate.errors import RequestError
from migrate.parity.request import target
from migrate.parity.workers import structure
from migrate.parity.workers.structure import ModuleInfo, Variable

RANDOM_LAYER = re.compile(r"drop(out|path|block)|stochasticdepth", re.IGNORECASE)
_PROBABILITIES = ("p", "drop_prob", "drop_rate", "dropout")
_FUNCTIONS = (
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "alpha_dropout",
    "feature_alpha_dropout",
)


def quiet_functions() -> None:
    """Make torch's functional dropouts do nothing; called before user code may import them by
    name.
    """
    functional: Any = torch.nn.functional
    for name in _FUNCTIONS:
        setattr(functional, name, lambda input, *args, **kwargs: input)
    attention = functional.scaled_dot_product_attention

    def without_dropout(
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        **rest: Any,
    ) -> Any:
        return attention(query, key, value, attn_mask, 0.0, is_causal, **rest)

    functional.scaled_dot_product_attention = without_dropout


def quiet_layers(model: torch.nn.Module, *, change: bool) -> dict[str, float]:
    """Return each random layer's probability and, if asked, set it to zero."""
    found: dict[str, float] = {}
    for path, module in model.named_modules():
        recurrent = isinstance(module, (torch.nn.RNNBase, torch.nn.MultiheadAttention))
        if not recurrent and not RANDOM_LAYER.search(type(module).__name__):
            continue
        for attribute in _PROBABILITIES:
            value = getattr(module, attribute, None)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                if value or not recurrent:
                    found[path] = float(value)
                if change:
                    setattr(module, attribute, 0.0)
                break
    return found


def build(target_text: str, seed: int) -> tuple[torch.nn.Module, list[ModuleInfo]]:
    """Build the model from its target and describe it."""
    torch.manual_seed(seed)
    with structure.watch_construction(torch.nn.Module) as place_of:
        model = target.build(target.parse(target_text))
    if not isinstance(model, torch.nn.Module):
        raise RequestError(
            f"gives a {type(model).__name__}, not a torch.nn.Module", where=target_text
        )
    return model, describe(model, place_of)


def describe(model: torch.nn.Module, place_of: Any = lambda module: None) -> list[ModuleInfo]:
    """List the modules in order of definition."""
    first: dict[int, str] = {}
    persistent = set(model.state_dict())
    described = []
    for path, module in model.named_modules():
        variables = {}
        for local, parameter in module._parameters.items():
            if parameter is not None:
                variables[local] = _variable(
                    _full(path, local), parameter, first, parameter.requires_grad, False
                )
        for local, buffer in module._buffers.items():
            if buffer is not None and _full(path, local) in persistent:
                variables[local] = _variable(_full(path, local), buffer, first, False, True)
        described.append(
            ModuleInfo(
                path,
                type(module).__name__,
                module.extra_repr(),
                place_of(module),
                structure.forward_place(type(module).forward),
                variables,
                type(module).__module__,
            )
        )
    return described


def _variable(
    name: str, tensor: torch.Tensor, first: dict[int, str], trainable: bool, buffer: bool
) -> Variable:
    shared = first.setdefault(id(tensor), name)
    return Variable(
        shared, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), trainable, buffer
    )


def _full(path: str, local: str) -> str:
    return f"{path}.{local}" if path else local


def set_state(model: torch.nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """Give a model back the values it had.

    load_state_dict would do, but models that version their state (MNASNet) refuse a plain dict.
    """
    with torch.no_grad():
        for name, value in model.state_dict().items():
            # A record holds a number as an array of one.
            value.copy_(state[name].reshape(value.shape))


def load_checkpoint(model: torch.nn.Module, path: str) -> None:
    """Start from a checkpoint instead of fresh weights."""
    from migrate.files.torch_checkpoints import read_state

    state = {name: torch.from_numpy(array) for name, array in read_state(Path(path)).items()}
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        raise RequestError(f"does not fit the model: {error}", where=path) from error


@torch.no_grad()  # type: ignore[untyped-decorator]
def perturb_constants(model: torch.nn.Module, seed: int) -> int:
    """Move parameters and running statistics that hold one single value off it, and count them."""
    random = np.random.default_rng([seed, 7919])
    changed = 0
    state = dict(model.named_parameters())
    state.update(
        {n: b for n, b in model.named_buffers() if n.endswith(("running_mean", "running_var"))}
    )
    for tensor in state.values():
        if (
            not tensor.is_floating_point()
            or tensor.numel() < 2
            or bool((tensor != tensor.flatten()[0]).any())
        ):
            continue
        noise = torch.from_numpy(random.uniform(-1.0, 1.0, tuple(tensor.shape))).to(tensor.dtype)
        base = float(tensor.flatten()[0])
        tensor.copy_(tensor * (1 + 0.2 * noise) if base else 0.1 * noise)
        changed += 1
    return changed


def to_precision(model: torch.nn.Module, dtype: torch.dtype) -> None:
    """Cast a model, and the plain tensors it keeps as attributes, which Module.to does not know
    of.
    """
    model.to(dtype)
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                setattr(module, name, value.to(dtype))
