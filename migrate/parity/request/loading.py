"""How a side finds and builds its model: folders to import from, a config, definitions only.

Each worker has settings of its own, so that two packages of one name can stand on the two sides.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import tomllib
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from migrate.errors import RequestError
from migrate.files.plain import read_plain
from migrate.parity.request.losses import parse_options
from migrate.parity.request.own_packages import put_on_path

_LARGEST = 10_000_000
_NEXT_STEP = "write --config config.json (or .toml, .yaml), or --config dim=64,heads=4"


@dataclass(frozen=True)
class Loading:
    """What a worker is told beside its target."""

    paths: tuple[str, ...] = ()
    config: dict[str, Any] | None = None
    definitions_only: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


_current: list[Loading] = [Loading()]


def use(data: dict[str, Any] | None) -> None:
    """Load by these settings from now on (worker only)."""
    if data is None:
        return
    _current[0] = Loading(tuple(data["paths"]), data["config"], data["definitions_only"])
    for folder in reversed(_current[0].paths):
        put_on_path(folder)


def current() -> Loading:
    return _current[0]


def check_paths(folders: Sequence[str]) -> tuple[str, ...]:
    """Folders that a side may import from, absolute; each must be there."""
    for folder in folders:
        if not Path(folder).is_dir():
            raise RequestError("no such folder", where=folder)
    return tuple(str(Path(folder).resolve()) for folder in folders)


def read_config(spec: str) -> dict[str, Any] | None:
    """The values that --config gives: a file, or key=value pairs; dots in keys nest."""
    if not spec:
        return None
    suffix = Path(spec).suffix.lower()
    if suffix not in (".json", ".toml", ".yaml", ".yml"):
        return _nested(parse_options(f"config:{spec}", "config")[1])
    try:
        text = read_plain(Path(spec), _LARGEST).decode("utf-8")
        data = _parse(text, suffix)
    except (OSError, ValueError, RecursionError) as error:
        raise RequestError(
            f"cannot read this config ({error})", where=spec, next_step=_NEXT_STEP
        ) from error
    if not isinstance(data, dict):
        raise RequestError("holds no names and values", where=spec, next_step=_NEXT_STEP)
    try:
        json.dumps(data)
    except TypeError as error:
        raise RequestError(f"holds what is not plain data ({error})", where=spec) from error
    return data


def _parse(text: str, suffix: str) -> Any:
    if suffix == ".json":
        return json.loads(text)
    if suffix == ".toml":
        return tomllib.loads(text)
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise ValueError("reading YAML needs PyYAML: pip install pyyaml") from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace("\n", " ")) from None


def _nested(flat: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in flat.items():
        *parents, last = key.split(".")
        holder = found
        for parent in parents:
            holder = holder.setdefault(parent, {})
            if not isinstance(holder, dict):
                raise RequestError(f"{key!r} is below a plain value", next_step=_NEXT_STEP)
        holder[last] = value
    return found


class Settings(SimpleNamespace):
    """Values as attributes, as argparse and most configs give them, and as items."""

    def __getitem__(self, name: str) -> Any:
        return vars(self)[name]

    def __contains__(self, name: str) -> bool:
        return name in vars(self)

    def __iter__(self) -> Iterator[str]:
        return iter(vars(self))

    def keys(self) -> Any:
        return vars(self).keys()

    def items(self) -> Any:
        return vars(self).items()

    def get(self, name: str, default: Any = None) -> Any:
        return vars(self).get(name, default)


def config_for(made_by: Callable[..., Any], data: dict[str, Any]) -> Any:
    """The config as the callable declares it: its first parameter's class, or plain settings."""
    function = made_by.__init__ if isinstance(made_by, type) else made_by  # type: ignore[misc]
    try:
        hints = typing.get_type_hints(function)
        names = [name for name in inspect.signature(made_by).parameters if name != "self"]
    except (TypeError, ValueError, NameError, AttributeError):
        hints, names = {}, []
    return _as(hints.get(names[0]) if names else None, data)


def _as(kind: Any, data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        known = [field.name for field in dataclasses.fields(kind) if field.init]
        unknown = [name for name in data if name not in known]
        if unknown:
            raise RequestError(
                f"{kind.__name__} has no field {unknown[0]!r}",
                where="--config",
                next_step=f"it has: {', '.join(known)}",
            )
        return kind(**{name: _as(hints.get(name), value) for name, value in data.items()})
    if isinstance(kind, type) and kind.__module__ not in (
        "builtins",
        "types",
        "typing",
        "argparse",
    ):
        return kind(**data)
    if kind is dict:
        return data
    return Settings(**{name: _as(None, value) for name, value in data.items()})
