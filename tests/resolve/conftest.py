"""Marked source: every torch use stands between « and », so that a test states its exact place."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate.project import discover
from migrate.resolve import Resolver
from migrate.table import Table

Place = tuple[int, int, int, int]
Use = tuple[str, str, Place]


def unmark(text: str) -> tuple[str, list[Place]]:
    """The source without its marks, and the marked places: outer before inner, in source order."""
    places: list[tuple[int, int, int, int]] = []
    opened: list[tuple[int, int]] = []
    plain: list[str] = []
    line, column = 1, 0
    for character in text:
        if character == "«":
            opened.append((line, column))
        elif character == "»":
            places.append((*opened.pop(), line, column))
        else:
            plain.append(character)
            if character == "\n":
                line, column = line + 1, 0
            else:
                column += len(character.encode())
    assert not opened, "a « without its »"
    places.sort(key=lambda place: (place[0], place[1], -place[2], -place[3]))
    return "".join(plain), places


@pytest.fixture(scope="session")
def table() -> Table:
    return Table()


@pytest.fixture
def check(tmp_path: Path, table: Table) -> Callable[..., None]:
    """Give `check(source, *uses)`: the marked places hold these uses, and no other is found.

    A use is written `form api`. `beside` holds further files of the project by path.
    """

    def run(
        source: str, *uses: str, beside: dict[str, str] | None = None, name: str = "main.py"
    ) -> None:
        for other, text in (beside or {}).items():
            path = tmp_path / other
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        plain, places = unmark(textwrap.dedent(source))
        main = tmp_path / name
        main.parent.mkdir(parents=True, exist_ok=True)
        main.write_text(plain, encoding="utf-8")
        project = discover([tmp_path])
        file = next(file for file in project.files if file.path == main)
        resolution = Resolver(project, table).file(file)
        assert resolution.problem is None
        found = [
            (f"{use.form} {use.api}", (use.line, use.column, use.end_line, use.end_column))
            for use in resolution.usages
        ]
        assert len(places) == len(uses), "as many marks as uses, please"
        assert found == list(zip(uses, places, strict=True))

    return run
