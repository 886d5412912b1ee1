"""The first statement of a module's own code after which torch and MindSpore hold other values.

The two codes need not read alike, so values are paired, not lines: a statement of torch's is in
order if some MindSpore statement gives the same value, or if what is made of its value is in
order again. The first that is not, on the way to the result, is where they part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby

from migrate.parity.judge.matching import squeezed
from migrate.parity.judge.tolerance import Judgement, Tolerance, judge
from migrate.parity.workers.record import Array
from migrate.parity.workers.statements import RESULT, Bound, Statement

Pair = Callable[[Bound, Bound], Judgement | None]


@dataclass(frozen=True)
class Parting:
    """Where the values part: torch's statement, and MindSpore's if there is one for it."""

    torch: Statement
    mindspore: Statement | None
    # MindSpore's first statement without its like before that one: the cause is in between.
    since: Statement | None
    name: str
    # How often torch's statement had run before, in a loop.
    earlier: int
    problem: str


def find(
    ours: list[Bound],
    theirs: list[Bound],
    truth: Mapping[str, Array],
    other: Mapping[str, Array],
    floors: Mapping[str, list[float]],
    tolerance: Tolerance,
) -> Parting | None:
    """The first parting; None where each value of torch's has its like."""
    known: dict[tuple[str, str], Judgement | None] = {}

    def pair(mine: Bound, yours: Bound) -> Judgement | None:
        """How two values compare; None for values that are no counterparts by their shapes."""
        keys = (mine.key, yours.key)
        if keys not in known:
            a, b = truth[mine.key], other[yours.key]
            alike = squeezed(a.shape) == squeezed(b.shape)
            known[keys] = (
                judge(a, b, floors.get(mine.key), tolerance, full=False, same_shape=False)
                if alike
                else None
            )
        return known[keys]

    results = [_results(ours), _results(theirs)]
    matches = [
        # A result is the other's result, not whatever had its value before.
        _match(mine, results[1] if mine in results[0] else theirs, theirs, pair)
        for mine in ours
    ]
    consumers = _consumers(ours)
    good = _settled(matches, consumers)
    reaching = _reaching(ours, consumers)
    wrong = [i for i in range(len(ours)) if not good[i]]
    first = next((i for i in wrong if i in reaching), wrong[0] if wrong else None)
    if first is None:
        return None
    anchor = max((m for m in matches[:first] if m is not None), default=-1)
    unlike = [
        yours
        for yours in theirs[anchor + 1 :]
        if (yours in results[1] and ours[first] in results[0])
        or not any(judged.ok for ready in ours if (judged := pair(ready, yours)) is not None)
    ]
    counterpart = _counterpart(ours, first, theirs, matches, unlike, pair)
    judged = pair(ours[first], counterpart) if counterpart is not None else None
    since = unlike[0].statement if unlike else None
    return Parting(
        ours[first].statement,
        counterpart.statement if counterpart is not None else None,
        since if counterpart is not None and since != counterpart.statement else None,
        ours[first].name + ours[first].way,
        ours[first].earlier,
        judged.problem if judged is not None else "",
    )


def _match(mine: Bound, candidates: list[Bound], theirs: list[Bound], pair: Pair) -> int | None:
    for yours in candidates:
        judged = pair(mine, yours)
        if judged is not None and judged.ok:
            return theirs.index(yours)
    return None


def _results(bound: list[Bound]) -> list[Bound]:
    """What the outermost function returns: the last values of all."""
    last = bound[-1] if bound else None
    if last is None or last.name != RESULT:
        return []
    return [one for one in bound if one.name == RESULT and _run_of(one) == _run_of(last)]


def _consumers(ours: list[Bound]) -> list[list[int]]:
    """For each value, the later ones whose statement mentions its name before it is bound again."""
    runs = [list(run) for _, run in groupby(range(len(ours)), key=lambda i: _run_of(ours[i]))]
    found: list[list[int]] = []
    for number, run in enumerate(runs):
        for index in run:
            later: list[int] = []
            for after in runs[number + 1 :]:
                if ours[index].name in ours[after[0]].statement.reads:
                    later += after
                # A statement that changes what it reads has read it first.
                if any(ours[one].name == ours[index].name for one in after):
                    break
            found.append(later)
    return found


def _run_of(bound: Bound) -> tuple[Statement, int]:
    """One run of one statement, which may give several values."""
    return bound.statement, bound.earlier


def _settled(matches: list[int | None], consumers: list[list[int]]) -> list[bool]:
    """A value without its like is in order if something made of it has one."""
    good = [match is not None for match in matches]
    for index in reversed(range(len(good))):
        good[index] = good[index] or any(good[later] for later in consumers[index])
    return good


def _reaching(ours: list[Bound], consumers: list[list[int]]) -> set[int]:
    """The values on the way to a result."""
    found = {index for index, bound in enumerate(ours) if bound.name == RESULT}
    for index in reversed(range(len(ours))):
        if any(later in found for later in consumers[index]):
            found.add(index)
    return found


def _counterpart(
    ours: list[Bound],
    first: int,
    theirs: list[Bound],
    matches: list[int | None],
    unlike: list[Bound],
    pair: Pair,
) -> Bound | None:
    """MindSpore's value in the place of torch's: of the statement that gave its like when torch's
    ran before, of the same name, or else the first of its shape.
    """
    mine = ours[first]
    before = {
        theirs[match].statement
        for bound, match in zip(ours, matches, strict=True)
        if match is not None and bound.statement == mine.statement
    }
    shaped = [yours for yours in unlike if pair(mine, yours) is not None]
    again = [yours for yours in shaped if yours.statement in before]
    named = [yours for yours in shaped if yours.name == mine.name]
    return next(iter([*again, *named, *shaped, *unlike]), None)
