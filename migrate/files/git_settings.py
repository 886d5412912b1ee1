"""What a repository's settings say of the files that git would write: read as text, never run.

Only what decides whether `git checkout` gives a file back is looked at. Where settings include
other files, those count too; a condition on an include is taken for true.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from migrate.files.plain import read_plain

_LONGEST_TEXT = 5_000_000
_MOST_FILES = 20
# A setting may stand on the line of its section: `[core] worktree = elsewhere`.
_SETTING = r"^\s*(?:\[[^\]\n]*\]\s*)?"
_VALUE = r"\s*=\s*\"?([^\"\n]*?)\"?\s*(?:[#;].*)?$"
_FLAGS = re.IGNORECASE | re.MULTILINE
_OBJECT_FORMAT = re.compile(rf"{_SETTING}objectformat\s*=\s*sha256\s*$", _FLAGS)
_WORKTREE = re.compile(rf"{_SETTING}worktree{_VALUE}", _FLAGS)
_INCLUDED = re.compile(rf"{_SETTING}path{_VALUE}", _FLAGS)
# With one of these, git writes the line ends of Windows where the object has those of Unix.
_CONVERTS = re.compile(rf"{_SETTING}(autocrlf\s*=\s*true|eol\s*=\s*crlf)\s*$|\beol=crlf\b", _FLAGS)
_IDENT = re.compile(r"^\S+\s.*\bident\b", re.MULTILINE)
_REPLACED = b"place/"  # refs/replace/...: the end of it, which no compression of names leaves out


@dataclass(frozen=True)
class Settings:
    """The settings of one working tree."""

    sha256: bool = False
    converts_line_ends: bool = False
    elsewhere: bool = False  # what is checked out goes to another place
    identifies: bool = False  # `$Id$` in a file is filled in
    replaces: bool = False  # an object may stand for another one


def read_settings(top: Path, folder: Path, common: Path) -> Settings:
    """Of a working tree, its git directory, and the one that it shares with others."""
    own = _with_included([common / "config", folder / "config.worktree"])
    config = "\n".join(text for _, text in own)
    attributes = "\n".join(_texts(_attribute_files(top, common)))
    users = "\n".join(_texts(_users_files()))
    return Settings(
        sha256=_OBJECT_FORMAT.search(config) is not None,
        converts_line_ends=_CONVERTS.search("\n".join((config, attributes, users))) is not None,
        elsewhere=any(
            (base / named).resolve() != top
            for base, text in own
            for named in _WORKTREE.findall(text)
        ),
        identifies=_IDENT.search(attributes) is not None,
        replaces=_has_replacements(common),
    )


def read_text(path: Path) -> str:
    return read_plain(path, _LONGEST_TEXT).decode("utf-8", errors="surrogateescape")


def _with_included(pending: list[Path]) -> list[tuple[Path, str]]:
    """The text of settings, and of those that they include; a relative worktree is one of the git
    directory's, wherever it is named.
    """
    home = pending[0].parent
    found: list[tuple[Path, str]] = []
    seen: set[Path] = set()
    while pending and len(seen) < _MOST_FILES:
        path = pending.pop(0)
        if path in seen or (seen and not os.path.lexists(path)):  # the first one must be there
            continue
        seen.add(path)
        text = read_text(path)
        found.append((home, text))
        named = (Path(os.path.expanduser(name)) for name in _INCLUDED.findall(text) if name)
        pending += [one if one.is_absolute() else path.parent / one for one in named]
    return found


def _texts(paths: list[Path]) -> list[str]:
    return [read_text(path) for path in paths if path.is_file()]


def _users_files() -> list[Path]:
    home = Path(os.path.expanduser("~"))
    return [home / ".gitconfig", home / ".config/git/config"]


def _attribute_files(top: Path, common: Path) -> list[Path]:
    users = Path(os.path.expanduser("~")) / ".config/git/attributes"
    return [top / ".gitattributes", common / "info" / "attributes", users]


def _has_replacements(common: Path) -> bool:
    """Whether `git replace` was used: then an object's name says nothing of its content."""
    if any((common / "refs/replace").glob("*")):
        return True
    packed = [common / "packed-refs", *sorted((common / "reftable").glob("*.ref"))]
    return any(_REPLACED in read_plain(path, 500_000_000) for path in packed if path.is_file())
