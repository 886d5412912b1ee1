"""Defaults from `[tool.ms-migrate]` of pyproject.toml, or from `[ms-migrate]` of setup.cfg
(`[tool:ms-migrate]`, as pytest spells its own, is the same).

    [tool.ms-migrate]
    exclude = ["third_party", "*_pb2.py"]
    ignore = ["MS403"]

    [tool.ms-migrate.parity]
    classes = 10

The nearest file upwards from the working directory that has such a section counts. What the command
line says goes before it. The file may have come with a tree from elsewhere: it cannot say what is
run, where anything is written, or that a protection is off.
"""

from __future__ import annotations

import argparse
import configparser
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from migrate.command_line.parser import Parser, did_you_mean
from migrate.errors import RequestError

# What may stand outside a command's own section: commands without such an option pass over it.
SHARED = (
    "baseline",
    "color",
    "device",
    "exclude",
    "exit-zero",
    "ignore",
    "jobs",
    "lang",
    "mode",
    "ms-version",
    "select",
    "target",
)
# Only the command line says these: programs and code to run, places to write to, and whether what
# is there is overwritten.
COMMAND_LINE_ONLY = frozenset(
    """
    backup config config-file data debug definitions-only force help hyperparameters in-place
    install keep model ms-loss ms-optimizer ms-path ms-python no-config original output own-loss
    own-optimizer path python reference report resume rollback sources torch-loss
    torch-optimizer torch-path torch-python update weights write-baseline
    """.split()  # noqa: SIM905 - a list would take a line for each name
)
_SWITCH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_LONGEST = 5_000_000  # bytes
_PYPROJECT, _SETUP = "pyproject.toml", "setup.cfg"


def find(start: Path) -> Path | None:
    """The nearest configuration file upwards."""
    for folder in (start, *start.parents):
        for name in (_PYPROJECT, _SETUP):
            path = folder / name
            if path.is_file() and read(path) is not None:
                return path
        if (folder / ".git").exists():
            break
    return None


def read(path: Path) -> dict[str, Any] | None:
    """The section as a table, commands as tables in it; None where there is none."""
    try:
        if path.stat().st_size > _LONGEST:
            raise RequestError("is too large for a configuration file", where=str(path))
        text = path.read_text(encoding="utf-8")
        return _from_ini(text) if path.suffix == ".cfg" else _from_toml(text)
    except OSError as error:
        raise RequestError((error.strerror or str(error)).lower(), where=str(path)) from None
    except (ValueError, configparser.Error, RecursionError) as error:
        reason = str(error).splitlines()[0]
        raise RequestError(f"cannot be read: {reason}", where=str(path)) from None


def _from_toml(text: str) -> dict[str, Any] | None:
    if "ms-migrate" not in text:
        return None
    found = tomllib.loads(text).get("tool", {}).get("ms-migrate")
    return found if isinstance(found, dict) else None


def _from_ini(text: str) -> dict[str, Any] | None:
    if "[ms-migrate" not in text and "[tool:ms-migrate" not in text:
        return None
    parser = configparser.ConfigParser()
    parser.read_string(text)
    found: dict[str, Any] = {}
    for section in parser.sections():
        name, _, command = section.removeprefix("tool:").partition(":")
        if name == "ms-migrate":
            entries = dict(parser[section])
            found |= {command: entries} if command else entries
    return found


def apply(table: Mapping[str, Any], path: Path, command: str, parser: Parser, known: Any) -> None:
    """Make the file's values the command's defaults; what it cannot mean is refused."""
    for key, value in table.items():
        if isinstance(value, dict):
            if key not in known:
                raise _unknown(path, f"section {key!r}", did_you_mean(key, known))
            if key == command:
                for own, setting in value.items():
                    _set(parser, own, setting, path, own_section=True)
        else:
            if key not in SHARED:
                raise _unknown(path, f"setting {key!r}", did_you_mean(key, SHARED))
            _set(parser, key, value, path, own_section=False)


def _unknown(path: Path, what: str, close: str) -> RequestError:
    step = close or f"settings for all commands are {', '.join(SHARED)}"
    return RequestError(f"there is no {what}", where=str(path), next_step=step)


def _set(parser: Parser, key: str, value: Any, path: Path, *, own_section: bool) -> None:
    action = parser.option(f"--{key}")
    if key in COMMAND_LINE_ONLY and (action is not None or own_section):
        raise RequestError(
            f"{key!r} cannot be set in a file, which may have come with the tree",
            where=str(path),
            next_step=f"give --{key} on the command line",
        )
    if key == "baseline" and isinstance(value, str):
        value = _beside(path, value)
    if action is None:
        if own_section:
            close = did_you_mean(f"--{key}", parser._option_string_actions)
            raise _unknown(path, f"setting {key!r} of this command", close.replace("--", ""))
        return
    parser.set_defaults(**{action.dest: _converted(parser, action, key, value, path)})


def _beside(path: Path, baseline: str) -> str:
    """The same file whatever the working directory: relative to the configuration, as others do."""
    place = path.parent / baseline
    try:
        inside = place.resolve().is_relative_to(path.parent.resolve())
    except (OSError, ValueError, RuntimeError):  # a loop of links, NUL bytes
        inside = False
    if not inside:
        raise RequestError(f"the baseline {baseline} lies outside of this folder", where=str(path))
    return os.path.relpath(place)


def _converted(parser: Parser, action: argparse.Action, key: str, value: Any, path: Path) -> Any:
    """The value as the option itself would have given it."""
    if action.nargs == 0:
        switch = _SWITCH.get(str(value).lower())
        if switch is None:
            raise RequestError(f"{key}: {value!r} is neither true nor false", where=str(path))
        return switch
    repeated = isinstance(action, argparse._AppendAction) or action.nargs in ("+", "*")
    words = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not repeated:
        raise RequestError(f"{key}: takes one value, not a list", where=str(path))
    for word in words:
        # A number is what some options take; their own conversion says which.
        number = isinstance(word, int | float) and not isinstance(word, bool)
        if not (isinstance(word, str) or (number and action.type is not None)):
            raise RequestError(f"{key}: {word!r} is not a string", where=str(path))
    if repeated and isinstance(value, str):
        words = [word for line in value.splitlines() for word in line.split(",") if word.strip()]
    try:
        made = [parser._get_value(action, str(word).strip()) for word in words]
        for one in made:
            parser._check_value(action, one)
    except argparse.ArgumentError as error:
        raise RequestError(f"{key}: {error.message}", where=str(path)) from None
    return made if repeated else made[0]
