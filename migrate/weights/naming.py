"""Names without a model: what the frameworks call the same tensor, told from names and shapes.

A layer's tensors share a prefix. One that keeps running statistics is a batch norm; a weight of
one axis belongs to a norm; a weight of two axes is a matrix. Two things cannot be told from
shapes: an embedding from a Linear without bias, and a PReLU from a norm without bias. MindSpore
names both differently, so they need the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Shape = tuple[int, ...]

# What wraps a state dict's names when a model was saved inside another.
TO_MINDSPORE = {
    "weight": "gamma",
    "bias": "beta",
    "running_mean": "moving_mean",
    "running_var": "moving_variance",
}
TO_TORCH = {theirs: ours for ours, theirs in TO_MINDSPORE.items()} | {
    "embedding_table": "weight",
    "w": "weight",
}
COUNTER = "num_batches_tracked"


@dataclass
class Renaming:
    """New name and shape for each old name, and what could not be decided."""

    names: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    undecided: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def to_mindspore(shapes: Mapping[str, Shape]) -> Renaming:
    """Rename a torch state dict by its own evidence."""
    result = Renaming()
    layers = _layers(shapes)
    for prefix, local_shapes in layers.items():
        for local, shape in local_shapes.items():
            name = prefix + local
            if local == COUNTER:
                result.dropped.append(name)
                continue
            result.names[name] = prefix + _mindspore_local(local, local_shapes)
            result.shapes[name] = shape
            doubt = _doubt(local, shape, local_shapes) or _part_of_transformer(name, shapes)
            if doubt:
                result.undecided[name] = doubt
    return result


def _mindspore_local(local: str, layer: Mapping[str, Shape]) -> str:
    if local in ("running_mean", "running_var"):
        return TO_MINDSPORE[local]
    if local in ("weight", "bias") and _is_norm(layer):
        return TO_MINDSPORE[local]
    return local


def _is_norm(layer: Mapping[str, Shape]) -> bool:
    """Running statistics, or a weight of one axis: no other layer of torch's has either."""
    return "running_mean" in layer or len(layer.get("weight", (0, 0))) == 1


def _doubt(local: str, shape: Shape, layer: Mapping[str, Shape]) -> str:
    if local != "weight" or "running_mean" in layer:
        return ""
    if len(shape) == 3:
        return "a Conv1d, whose weight MindSpore stores with an extra axis, or a Bilinear"
    if "bias" in layer:
        return ""
    if len(shape) == 2:
        return "a Linear without bias (weight) or an Embedding (embedding_table)"
    if len(shape) == 1:
        return "a norm without bias (gamma) or a PReLU (w)"
    return ""


def _part_of_transformer(name: str, shapes: Mapping[str, Shape]) -> str:
    """torch's own encoder and decoder layers have a linear1, which MindSpore's call dense1; so may
    a class of the user's, whose names stay.
    """
    layer, _, part = name.rpartition(".")[0].rpartition(".")
    prefix = f"{layer}." if layer else ""
    if part not in ("linear1", "linear2"):
        return ""
    if f"{prefix}self_attn.in_proj_weight" not in shapes or f"{prefix}norm1.weight" not in shapes:
        return ""
    return f"nn.TransformerEncoderLayer's (dense{part[-1]}) or a class's of your own ({part})"


def to_torch(shapes: Mapping[str, Shape]) -> Renaming:
    """Rename MindSpore parameters: here the names themselves say what a layer is."""
    result = Renaming()
    for name, shape in shapes.items():
        prefix, _, local = name.rpartition(".")
        prefix = f"{prefix}." if prefix else ""
        # BatchNorm3d keeps its parameters one level deeper than torch does.
        if prefix.endswith("bn2d.") and local in TO_TORCH:
            prefix = prefix.removesuffix("bn2d.")
        result.names[name] = prefix + TO_TORCH.get(local, local)
        result.shapes[name] = shape
        if local == "weight" and len(shape) == 4 and shape[2] == 1 and shape[3] != 1:
            result.undecided[name] = (
                "a Conv1d (torch stores it without the axis of one) or a Conv2d one high"
            )
    return result


def _layers(shapes: Mapping[str, Shape]) -> dict[str, dict[str, Shape]]:
    layers: dict[str, dict[str, Shape]] = {}
    for name, shape in shapes.items():
        prefix, _, local = name.rpartition(".")
        layers.setdefault(f"{prefix}." if prefix else "", {})[local] = shape
    return layers
