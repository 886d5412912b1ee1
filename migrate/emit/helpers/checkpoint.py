"""Checkpoints of any nested structure, in MindSpore's own format."""

import argparse
import json
import os
import tempfile

import mindspore
import numpy as np
from mindspore import Tensor

from migrate.emit.helpers.helper_origin import uses


def save(obj, f):
    """Save nested dicts, lists, options, numbers, strings and tensors as one .ckpt file."""
    if uses("binary files") and hasattr(f, "write"):
        with tempfile.TemporaryDirectory() as folder:
            save(obj, os.path.join(folder, "saved"))
            with open(os.path.join(folder, "saved"), "rb") as stream:
                f.write(stream.read())
        return
    tensors = []

    def describe(value):
        if isinstance(value, (Tensor, np.ndarray)):
            kind = "tensor" if isinstance(value, Tensor) else "array"
            data = value.asnumpy() if kind == "tensor" else value
            name = f"{kind}.{len(tensors)}"
            tensors.append({"name": name, "data": Tensor(data)})
            return {kind: name}
        if isinstance(value, argparse.Namespace):
            return {"namespace": describe(vars(value))}
        if isinstance(value, dict):
            return {"dict": [[describe(key), describe(item)] for key, item in value.items()]}
        if isinstance(value, (list, tuple)):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [describe(item) for item in value]}
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise TypeError(f"cannot save a {type(value).__name__}: keep tensors, numbers and strings")

    structure = json.dumps(describe(obj)).encode()
    tensors.append({"name": "structure", "data": Tensor(np.frombuffer(structure, np.uint8).copy())})
    if os.path.realpath(f) == os.devnull:
        return  # nothing is kept, and the rename would replace the device itself
    aside = f"{os.fspath(f)}.{os.getpid()}.ckpt"
    mindspore.save_checkpoint(tensors, aside)
    os.replace(aside, f)


_NAMES_IN_TORCH = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
}


def _torch_name(name, names):
    """As torch calls it. A lone gamma is a parameter of the program's own, not a norm's."""
    layer, dot, local = name.rpartition(".")
    pair = (f"{layer}{dot}gamma", f"{layer}{dot}beta")
    if name in pair and not all(one in names for one in pair):
        return name
    if local in _NAMES_IN_TORCH and layer.rpartition(".")[2] == "bn2d":
        layer = layer.removesuffix("bn2d").removesuffix(".")
    return f"{layer}{dot}{_NAMES_IN_TORCH.get(local, local)}"


def load(f, map_location=None, weights_only=None):
    """Load what `save` wrote; of a plain MindSpore checkpoint, the values by torch's names."""
    if uses("binary files") and hasattr(f, "read"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "loaded")
            with open(path, "wb") as stream:
                stream.write(f.read())
            return load(path)
    with open(f, "rb") as stream:
        if stream.read(2) == b"PK":
            raise ValueError(
                f"{f} is a torch checkpoint: convert it with `ms-migrate weights` first"
            )
    # MindSpore insists on the ending; several processes may load the same file.
    with tempfile.TemporaryDirectory() as folder:
        link = os.path.join(folder, "loaded.ckpt")
        os.symlink(os.path.abspath(f), link)
        values = mindspore.load_checkpoint(link)
    if "structure" not in values:
        return {_torch_name(name, values): value for name, value in values.items()}

    def rebuild(value):
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind in ("tensor", "array"):
            data = values[content].asnumpy()
            return Tensor(data) if kind == "tensor" else data
        if kind == "namespace":
            return argparse.Namespace(**rebuild(content))
        if kind == "dict":
            return {rebuild(key): rebuild(item) for key, item in content}
        items = [rebuild(item) for item in content]
        return tuple(items) if kind == "tuple" else items

    return rebuild(json.loads(values["structure"].asnumpy().tobytes().decode()))
