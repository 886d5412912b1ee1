"""Name the first place where the two models part, and what is innocent of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from migrate.parity.judge.compare import Comparison, Layer

Direction = Literal["forward", "backward"]
_MOST = 6


@dataclass(frozen=True)
class Suspect:
    """A submodule call whose inputs agree and whose result does not."""

    layer: Layer
    direction: Direction
    # True if no submodule of it is to blame: the difference is made in its own forward or
    # construct.
    own_code: bool
    # For own code: the last inner call that agrees and the first whose input does not.
    after: Layer | None = None
    before: Layer | None = None


def forward_suspects(comparison: Comparison) -> list[Suspect]:
    """Calls whose inputs agree and whose outputs do not, inner before outer, first call first."""
    candidates = [
        index
        for index, layer in enumerate(comparison.layers)
        if layer.inputs_agree and not layer.outputs_agree
    ]
    return _inner_first(comparison.layers, candidates, "forward")


def unfinished_suspect(comparison: Comparison) -> Suspect | None:
    """If construct stopped with an error: the code around the first call whose input already
    differs.
    """
    for index, layer in enumerate(comparison.layers):
        if not layer.inputs_agree:
            agreeing = [part for part in comparison.layers[:index] if part.outputs_agree]
            return Suspect(layer, "forward", True, agreeing[-1] if agreeing else None, layer)
    return None


def backward_suspects(comparison: Comparison) -> list[Suspect]:
    """Calls whose output gradients agree and whose input or parameter gradients do not, last call
    first.
    """
    wrong = {row.name for row in comparison.failed("gradients")}
    candidates = []
    for index, layer in enumerate(comparison.layers):
        if not layer.output_slopes or not all(slope.ok for slope in layer.output_slopes):
            continue
        owned = _owned(comparison, layer)
        if any(not slope.ok for slope in layer.input_slopes) or owned & wrong:
            candidates.append(index)
    return _inner_first(comparison.layers, candidates[::-1], "backward")


def _inner_first(layers: list[Layer], candidates: list[int], direction: Direction) -> list[Suspect]:
    """Those without a suspect inside come first; the containers around them follow, deepest first.

    A container matters when its parts turn out innocent in isolation: a tensor that several
    calls share shows a wrong gradient at each of them, whoever made it wrong.
    """
    chosen = {id(layers[index]) for index in candidates}
    innermost: list[Suspect] = []
    outer: list[Suspect] = []
    for index in candidates:
        inner = _inner(layers, index)
        suspect = _suspect(layers[index], direction, inner)
        (outer if any(id(part) in chosen for part in inner) else innermost).append(suspect)
    outer.sort(key=lambda suspect: -suspect.layer.path.count(".") if suspect.layer.path else 1)
    return (innermost[:_MOST] + outer)[: _MOST + 4]


def _owned(comparison: Comparison, layer: Layer) -> set[str]:
    """Names of the parameters whose gradient the layer computes: its own, and for a container all
    below.
    """
    prefix = f"{layer.path}." if layer.path else ""
    return {
        f"{path}.{local}" if path else local
        for path, module in comparison.modules.items()
        if path == layer.path or path.startswith(prefix)
        for local in module.variables
    }


def _inner(layers: list[Layer], index: int) -> list[Layer]:
    """The calls made inside a call: they complete just before it and live below its path."""
    layer = layers[index]
    prefix = f"{layer.path}." if layer.path else ""
    inner: list[Layer] = []
    for earlier in reversed(layers[:index]):
        if earlier.path == layer.path and earlier.call == layer.call - 1:
            break
        if earlier.path.startswith(prefix) and earlier.path != layer.path:
            inner.insert(0, earlier)
    return inner


def _suspect(layer: Layer, direction: Direction, inner: list[Layer]) -> Suspect:
    if not inner:
        return Suspect(layer, direction, False)
    if direction == "backward":
        return Suspect(layer, direction, True)
    broken = next((i for i, part in enumerate(inner) if not part.inputs_agree), None)
    if broken is None:
        return Suspect(layer, direction, True, inner[-1], None)
    before = _outermost(inner, inner[broken])
    return Suspect(layer, direction, True, inner[broken - 1] if broken else None, before)


def _outermost(inner: list[Layer], part: Layer) -> Layer:
    """The call that the container's own code makes: parts of parts complete first, but are called
    elsewhere.
    """
    around = [
        layer
        for layer in inner
        if not layer.inputs_agree and part.path.startswith(f"{layer.path}.")
    ]
    return min(around, key=lambda layer: len(layer.path), default=part)
