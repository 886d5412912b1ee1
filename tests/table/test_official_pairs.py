"""Every pair of MindSpore's official API mapping is in the table, or was run and found wanting."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

from migrate.table import Entry, Table
from migrate.table.helper_pieces import helper_index
from tests.table.emitted_calls import ROOTS, from_template, method_calls_in, names_in, roots_of

HERE = Path(__file__).parent


@cache
def official() -> list[tuple[str, str]]:
    """(torch, MindSpore) as the official tables pair them, in this repository's short form."""
    lines = (HERE / "official_pairs.txt").read_text(encoding="utf-8").splitlines()
    pairs: list[tuple[str, str]] = []
    for line in lines:
        torch, _, targets = line.partition(": ")
        pairs += [(torch, target) for target in targets.split(", ")]
    return pairs


@cache
def verdicts() -> dict[str, str]:
    """Pair -> what running it showed, for pairs that the table does not follow."""
    with (HERE / "official_pairs.toml").open("rb") as stream:
        document = tomllib.load(stream)
    found = dict.fromkeys(document["agrees"], "agrees") | document["rejected"]
    for group in document["several"]:
        found |= dict.fromkeys(group["pairs"], group["reason"])
    return found


@cache
def helper_names(name: str) -> frozenset[str]:
    found: set[str] = set()
    for definition in helper_index().closure([name]):
        tree = ast.parse("\n".join([*definition.imports, definition.source]))
        found |= set(names_in(tree, roots_of(tree)))
    return frozenset(found)


def written(entry: Entry) -> set[str]:
    """Every MindSpore name that the row may write, itself or through a helper."""
    found: set[str] = set()
    for form in entry.overloads:
        found |= {form.mindspore, form.mint}
        for text in (form.emit, form.mint_facts.get("emit", "")):
            if text:
                tree = from_template(text)
                found |= set(names_in(tree, ROOTS))
                found |= {
                    call.name for call in method_calls_in(tree, "hole_self", "mindspore.Tensor")
                }
        for helper in {form.helper, *re.findall(r"helpers\.(\w+)", form.emit)} - {""}:
            found |= helper_names(helper)
    return found


def followed(table: Table, torch: str, target: str) -> bool:
    entry = table.get(torch)
    return entry is not None and target in written(entry)


def test_every_pair_is_in_the_table_or_was_run():
    table = Table()
    unknown = [
        f"{torch} {target}"
        for torch, target in official()
        if not followed(table, torch, target) and f"{torch} {target}" not in verdicts()
    ]
    assert not unknown, "measure them (python -m tests.table.measure_pairs):\n" + "\n".join(unknown)


def test_a_pair_that_is_not_followed_still_has_a_row():
    """What torch has, the table knows; torchaudio and torchtext are not ported."""
    table = Table()
    absent = [
        f"{torch} {target}"
        for torch, target in official()
        if table.get(torch) is None
        and torch.startswith(("torch.", "torchvision."))
        and "torch has no such name" not in verdicts().get(f"{torch} {target}", "")
    ]
    assert not absent, "\n" + "\n".join(absent)


def test_a_missing_row_explains_itself():
    table = Table()
    silent = [
        torch
        for torch, _ in official()
        if (row := table.get(torch)) and row.status == "missing" and not (row.note and row.way)
    ]
    assert not silent


def test_verdicts_are_about_official_pairs():
    known = {f"{torch} {target}" for torch, target in official()}
    assert set(verdicts()) <= known
    assert len(known) > 1100 and all(verdicts().values())
