"""Parsed files of a project in which certain words occur: most programs have none of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from migrate.project import Project, ReadProblem, SourceFile, shared_tree


def any_mentions(project: Project, word: str) -> bool:
    return any(word in text for _, text in _texts(tuple(project.files)))


def trees_with(
    project: Project, *words: str, but: SourceFile | None = None
) -> Iterator[ast.Module]:
    """The files that hold one of these words and can be parsed; one file may be left out."""
    return trees_of(tuple(project.files), *words, but=but)


def trees_of(
    files: tuple[SourceFile, ...], *words: str, but: SourceFile | None = None
) -> Iterator[ast.Module]:
    """The same of a tuple of files, which can be the key of a cache."""
    for file, text in _texts(files):
        if file != but and any(word in text for word in words):
            try:
                yield shared_tree(file)
            except ReadProblem:
                continue  # whoever ports the file says why it cannot


@lru_cache(maxsize=1)
def _texts(files: tuple[SourceFile, ...]) -> tuple[tuple[SourceFile, str], ...]:
    found = []
    for file in files:
        try:
            text = file.read()
        except ReadProblem:
            continue
        found.append((file, text))
    return tuple(found)
