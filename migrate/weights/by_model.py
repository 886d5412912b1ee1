"""Names with a model at hand: the layer types say what shapes alone cannot."""

from __future__ import annotations

from collections.abc import Mapping

from migrate.errors import RequestError
from migrate.parity.judge import matching
from migrate.parity.workers.structure import ModuleInfo, Variable
from migrate.weights.naming import COUNTER, Renaming, Shape

# InstanceNorm is not among them: the porter writes a cell of its own for it, with torch's names.
_NORMS = ("BatchNorm", "SyncBatchNorm", "LayerNorm", "GroupNorm")
_NORM_NAMES = {
    "weight": "gamma",
    "bias": "beta",
    "running_mean": "moving_mean",
    "running_var": "moving_variance",
}


# What MindSpore's own composed layers call the parts of torch's.
_PARTS = {
    "TransformerEncoderLayer": {"linear1": "dense1", "linear2": "dense2"},
    "TransformerDecoderLayer": {"linear1": "dense1", "linear2": "dense2"},
}


def mindspore_name(module: ModuleInfo, local: str, types: Mapping[str, str]) -> str:
    """What MindSpore's counterpart of a torch layer calls one of its tensors; `types` are the
    types of torch's own layers by path.
    """
    parent, _, own = module.path.rpartition(".")
    own = _PARTS.get(types.get(parent, ""), {}).get(own, own)
    path = f"{parent}.{own}" if parent else own
    prefix = f"{path}." if path else ""
    if module.type.startswith(_NORMS):
        deeper = "bn2d." if module.type == "BatchNorm3d" else ""
        return prefix + deeper + _NORM_NAMES.get(local, local)
    if module.type in ("Embedding", "EmbeddingBag") and local == "weight":
        return f"{prefix}embedding_table"
    if module.type == "PReLU" and local == "weight":
        return f"{prefix}w"
    return prefix + local


def mindspore_shape(module: ModuleInfo, local: str, shape: Shape) -> Shape:
    """MindSpore stores one-dimensional convolutions as two-dimensional ones, one high."""
    if module.type in ("Conv1d", "ConvTranspose1d") and local == "weight":
        return (*shape[:2], 1, shape[2])
    return shape


def with_torch_model(
    modules: list[ModuleInfo], shapes: Mapping[str, Shape], *, to_mindspore: bool
) -> Renaming:
    """Rename by the layer types of a torch model, in either direction."""
    result = Renaming()
    expected: dict[str, tuple[str, Shape]] = {}
    # A class of the user's may be called like one of torch's, and keeps its names.
    types = {m.path: m.type for m in modules if m.module.startswith("torch.")}
    for module in modules:
        for local, variable in module.variables.items():
            ours = f"{module.path}.{local}" if module.path else local
            if local == COUNTER:
                if ours in shapes:
                    result.dropped.append(ours)
                continue
            theirs = mindspore_name(module, local, types)
            other = mindspore_shape(module, local, variable.shape)
            if to_mindspore:
                expected[ours] = (theirs, other)
            else:
                expected[theirs] = (ours, variable.shape)
    _fill(result, expected, shapes)
    return result


def with_mindspore_model(
    modules: list[ModuleInfo],
    shapes: Mapping[str, Shape],
    renames: Mapping[str, str],
    *,
    to_mindspore: bool,
) -> Renaming:
    """Rename by pairing a torch state dict with a MindSpore model's parameters."""
    if not to_mindspore:
        raise RequestError(
            "a MindSpore model cannot tell torch's names",
            next_step="give the torch model with --model, or leave --model out",
        )
    result = Renaming(dropped=[name for name in shapes if name.rpartition(".")[2] == COUNTER])
    matched = matching.match(state_structure(shapes), modules, renames)
    if matched.unmatched_torch or matched.unmatched_mindspore:
        raise RequestError(
            "the checkpoint does not fit the model:"
            f"\n  only in the checkpoint: {', '.join(matched.unmatched_torch) or 'nothing'}"
            f"\n  only in the model: {', '.join(matched.unmatched_mindspore) or 'nothing'}",
            next_step="if only names differ, give them with --map FILE",
        )
    for pair in matched.pairs:
        result.names[pair.torch] = pair.mindspore
        result.shapes[pair.torch] = pair.shape
    result.notes.extend(matched.notes)
    return result


def state_structure(shapes: Mapping[str, Shape]) -> list[ModuleInfo]:
    """The modules that a state dict's names imply."""
    layers: dict[str, dict[str, Variable]] = {"": {}}
    for name, shape in shapes.items():
        path, _, local = name.rpartition(".")
        parts = path.split(".") if path else []
        for depth in range(1, len(parts) + 1):
            layers.setdefault(".".join(parts[:depth]), {})
        buffer = local in ("running_mean", "running_var", COUNTER)
        layers[path][local] = Variable(name, shape, "float32", not buffer, buffer)
    return [ModuleInfo(path, "Module", variables=variables) for path, variables in layers.items()]


def _fill(
    result: Renaming, expected: Mapping[str, tuple[str, Shape]], shapes: Mapping[str, Shape]
) -> None:
    missing = [name for name in expected if name not in shapes]
    extra = [name for name in shapes if name not in expected and name not in result.dropped]
    extra = [name for name in extra if name.rpartition(".")[2] != COUNTER]
    if missing or extra:
        raise RequestError(
            "the checkpoint does not fit the model:"
            f"\n  only in the checkpoint: {', '.join(extra[:20]) or 'nothing'}"
            f"\n  only in the model: {', '.join(missing[:20]) or 'nothing'}",
            next_step="give the model with the arguments it was saved with",
        )
    for name, (new, shape) in expected.items():
        have = shapes[name]
        if matching.squeezed(have) != matching.squeezed(shape):
            raise RequestError(
                f"{name} is {list(have)} in the checkpoint, {list(shape)} in the model"
            )
        result.names[name] = new
        result.shapes[name] = shape
