"""Draw the same inputs for both sides: by shape, type and seed, or from files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from migrate.errors import RequestError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"

_FLOATS = ("float16", "float32", "float64")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
_FILES = (".npy", ".npz", ".safetensors")
_NEXT_STEP = "write --input 8,3,64,64 or 8,16:int64:0:1000 or mask=8,16:bool or batch.npz"
_NAMED = re.compile(r"(?P<name>\w+(\.\w+)*)=(?P<rest>.+)")


@dataclass(frozen=True)
class InputSpec:
    """One input as asked for: a shape to fill from the seed, or a file to read."""

    name: str
    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    low: float | None = None
    high: float | None = None
    file: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def from_json(data: dict[str, Any]) -> InputSpec:
    return InputSpec(**{**data, "shape": tuple(data["shape"])})


def parse(text: str) -> InputSpec:
    """Read one --input."""
    named = _NAMED.fullmatch(text)
    name, rest = (named["name"], named["rest"]) if named else ("", text)
    if rest.endswith(_FILES):
        path = Path(rest).expanduser()
        if not path.is_file():
            raise RequestError("no such file", where=rest, next_step=_NEXT_STEP)
        if name and not rest.endswith(".npy"):
            raise RequestError(
                "this file names its own arrays; leave out NAME=", where=rest, next_step=_NEXT_STEP
            )
        return InputSpec(name, file=str(path.resolve()))
    shape_text, *options = rest.split(":")
    shape = _parse_shape(shape_text, text)
    dtype = options[0] if options else "float32"
    if dtype not in (*_FLOATS, *_INTEGERS, "bool"):
        raise RequestError(
            f"unknown type {dtype!r} in --input {text}",
            next_step=f"use one of {', '.join((*_FLOATS, *_INTEGERS, 'bool'))}",
        )
    bounds = [_parse_bound(word, text) for word in options[1:]]
    if len(bounds) not in (0, 2):
        raise RequestError(f"--input {text} gives half a range", next_step=_NEXT_STEP)
    if dtype in _INTEGERS and not bounds:
        raise RequestError(
            f"--input {text} needs a range: integers are indices, and only you know how many "
            "there are",
            next_step=f"for example --input {text}:0:1000",
        )
    low, high = bounds or (None, None)
    if low is not None and high is not None and low >= high:
        raise RequestError(f"--input {text} has an empty range", next_step=_NEXT_STEP)
    return InputSpec(name, shape, dtype, low, high)


def draw(specs: list[InputSpec], seed: int, notes: list[str] | None = None) -> dict[str, Array]:
    """Return the inputs by name; unnamed ones are called 0, 1, ... in order and passed by
    position.
    """
    import numpy as np

    drawn: dict[str, Array] = {}
    for index, spec in enumerate(specs):
        if spec.file:
            for name, array in _read(Path(spec.file)).items():
                if array.dtype == np.float64:
                    # What numpy saves unless told otherwise, and what no float32 model takes.
                    array = array.astype(np.float32)
                    if notes is not None:
                        notes.append(f"{Path(spec.file).name} holds float64: taken as float32")
                drawn[spec.name or name or str(index)] = array
        else:
            drawn[spec.name or str(index)] = _fill(spec, np.random.default_rng([seed, index]))
    return drawn


def arguments(arrays: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Turn named inputs into a call: `0` is a position, `mask` a keyword, `batch.image` an entry
    of a dict.
    """
    call: dict[str, Any] = {}
    for name, array in arrays.items():
        top, *keys = name.split(".")
        if not keys:
            call[top] = array
            continue
        holder = call.setdefault(top, {})
        for key in keys[:-1]:
            holder = holder.setdefault(key, {})
        holder[keys[-1]] = array
    positions = sorted((name for name in call if name.isdigit()), key=int)
    return [call[name] for name in positions], {
        name: call[name] for name in call if not name.isdigit()
    }


def flatten(value: Any, is_tensor: Callable[[Any], bool], path: str = "") -> list[tuple[str, Any]]:
    """Find the tensors in tuples, lists, dicts and objects with fields, each with the way to it."""
    if is_tensor(value):
        return [(path, value)]
    if isinstance(value, Mapping):
        items: list[tuple[str, Any]] = [(f"[{key!r}]", item) for key, item in value.items()]
    elif hasattr(value, "_fields"):
        items = [(f".{name}", getattr(value, name)) for name in value._fields]
    elif isinstance(value, (tuple, list)):
        items = [(f"[{index}]", item) for index, item in enumerate(value)]
    elif hasattr(value, "__dataclass_fields__"):
        items = [(f".{name}", getattr(value, name)) for name in value.__dataclass_fields__]
    else:
        return []
    return [found for way, item in items for found in flatten(item, is_tensor, path + way)]


def _fill(spec: InputSpec, random: np.random.Generator) -> Array:
    import numpy as np

    if spec.dtype == "bool":
        return random.integers(0, 2, spec.shape).astype(np.bool_)
    if spec.dtype in _INTEGERS:
        assert spec.low is not None and spec.high is not None
        return random.integers(int(spec.low), int(spec.high), spec.shape).astype(spec.dtype)
    if spec.low is not None and spec.high is not None:
        return random.uniform(spec.low, spec.high, spec.shape).astype(spec.dtype)
    return random.standard_normal(spec.shape).astype(spec.dtype)


def _read(path: Path) -> dict[str, Array]:
    import numpy as np

    try:
        if path.suffix == ".npy":
            return {"": np.load(path, allow_pickle=False)}
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as archive:
                return {_bare(name): archive[name] for name in archive.files}
        from safetensors.numpy import load_file

        return dict(load_file(path))
    except Exception as error:
        raise RequestError(f"cannot read arrays from it ({error})", where=str(path)) from error


def _bare(name: str) -> str:
    """arr_0 is what numpy.savez calls an array that was given no name."""
    unnamed = re.fullmatch(r"arr_(\d+)", name)
    return unnamed[1] if unnamed else name


def _parse_shape(text: str, whole: str) -> tuple[int, ...]:
    if text in ("scalar", "()"):
        return ()
    try:
        shape = tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise RequestError(
            f"cannot read the shape in --input {whole}", next_step=_NEXT_STEP
        ) from None
    if any(size < 0 for size in shape):
        raise RequestError(f"negative size in --input {whole}", next_step=_NEXT_STEP)
    return shape


def _parse_bound(word: str, whole: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise RequestError(
            f"cannot read the bound {word!r} in --input {whole}", next_step=_NEXT_STEP
        ) from None
