"""Which line of a port belongs to which line of its source, where both have changed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

Pair = tuple[int, int]  # indices of the two lines; -1 where a line stands alone

_WORD = re.compile(r"\w+|[^\w\s]")
_LEAST = 0.34  # lines that share less are not one another's
_LARGEST = 40_000  # pairs of lines to weigh; a larger block is paired by position


def pair_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[bool, Pair]]:
    """Pairs in order, each with whether it is unchanged."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, i, end, j, stop in matcher.get_opcodes():
        if kind == "equal":
            yield from ((True, (i + k, j + k)) for k in range(end - i))
        else:
            for old, new in _align(before[i:end], after[j:stop]):
                yield False, (i + old if old >= 0 else -1, j + new if new >= 0 else -1)


def _align(before: Sequence[str], after: Sequence[str]) -> list[Pair]:
    """The pairing of the greatest likeness that keeps the order of both."""
    rows, columns = len(before), len(after)
    if rows * columns > _LARGEST:
        both = min(rows, columns)
        alone = [(i, -1) for i in range(both, rows)] + [(-1, j) for j in range(both, columns)]
        return [*((k, k) for k in range(both)), *alone]
    left = [set(_WORD.findall(line)) for line in before]
    right = [set(_WORD.findall(line)) for line in after]
    return _followed(left, right, _best(left, right))


def _best(left: list[set[str]], right: list[set[str]]) -> list[list[float]]:
    """The greatest likeness of what is left of both, by where that begins."""
    rows, columns = len(left), len(right)
    # best[i][j]: what can be had from before[i:] and after[j:].
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            alike = _likeness(left[i], right[j])
            together = best[i + 1][j + 1] + alike if alike >= _LEAST else 0.0
            best[i][j] = max(together, best[i + 1][j], best[i][j + 1])
    return best


def _followed(left: list[set[str]], right: list[set[str]], best: list[list[float]]) -> list[Pair]:
    """The pairs on the way of the greatest likeness."""
    rows, columns = len(left), len(right)
    found: list[Pair] = []
    i = j = 0
    while i < rows and j < columns:
        alike = _likeness(left[i], right[j])
        if alike >= _LEAST and best[i][j] == best[i + 1][j + 1] + alike:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i][j + 1]:
            found.append((-1, j))
            j += 1
        else:
            found.append((i, -1))
            i += 1
    found += [(k, -1) for k in range(i, rows)] + [(-1, k) for k in range(j, columns)]
    return found


def _likeness(left: set[str], right: set[str]) -> float:
    """The share of words and signs that two lines have in common."""
    if not left or not right:
        return 0.0
    return 2 * len(left & right) / (len(left) + len(right))
