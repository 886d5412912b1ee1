"""Read the graphs that MindSpore saves once built: operators with their source lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from migrate.preflight.result import Place

_NODE = re.compile(r"\s+%\d+\([^)]*\) = (?:PrimFunc_)?(?P<name>\w+)\(")
_NAME = re.compile(r"\s+# Fullname with scope: \((?P<name>.*)\)")
_LINE = re.compile(r"\s+# In file (?P<file>[^\n]+?):(?P<line>\d+)(?P<more>[~,/])")


@dataclass
class Node:
    """One operator of a graph."""

    operator: str
    scope: str = ""
    places: list[Place] = field(default_factory=list)

    @property
    def gradient(self) -> bool:
        return self.scope.startswith("Gradients/")

    def place(self, is_user: Callable[[str], bool]) -> Place | None:
        """The innermost line of the user's own."""
        return next((place for place in reversed(self.places) if is_user(place.file)), None)


def nodes(folder: Path) -> Iterator[Node]:
    """The operators of every graph below a folder."""
    for path in sorted(folder.rglob("*graph_build*.ir")):
        yield from _read(path)


def _read(path: Path) -> Iterator[Node]:
    node: Node | None = None
    with open(path, encoding="utf-8", errors="replace") as lines:
        for text in lines:
            if found := _NODE.match(text):
                if node is not None:
                    yield node
                node = Node(found["name"])
            elif node is not None and "# In file" in text:
                # `12~20` is a whole function around the line that follows: not a place of its own.
                found = _LINE.match(text)
                if found and not (found["more"] == "~" and ", " not in text.split("/")[0]):
                    node.places.append(Place(found["file"], int(found["line"])))
            elif node is not None and (found := _NAME.match(text)):
                node.scope = found["name"]
    if node is not None:
        yield node
