"""Make mappings/platforms.toml: on which devices the MindSpore names run that rows and helpers use.

    python -m tests.table.scan_platforms

The docstrings of the installed MindSpore name the devices (`Supported Platforms`); they are read as
text. What ran here on CPU runs on CPU, whatever the docstring says: mappings/evidence.json knows.
Data pipelines run on the host beside any device, so that theirs do not count.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from functools import cache

from migrate.resources import folder
from migrate.table import Table
from migrate.table.devices import written_names
from migrate.table.entry import PLATFORMS
from migrate.table.helper_pieces import helper_index
from tests.table.emitted_calls import names_in, roots_of
from tests.table.mindspore_source import installed

FILE = folder("mappings") / "platforms.toml"
HEAD = """\
# On which devices the MindSpore names run that rows and helpers use, where it is not all of them.
# Written by python -m tests.table.scan_platforms from MindSpore's docstrings; `ran` are names that
# ran on CPU although their docstring leaves it out.
"""
# Collectives under msrun with two processes: see docs/training.md.
TRAINED = {"mindspore.ops.AllGather", "mindspore.ops.Broadcast", "mindspore.ops.ReduceOp"}
# Called once on CPU, with a result.
CALLED = {
    "mindspore.Tensor.addmv",
    "mindspore.Tensor.mm",
    "mindspore.Tensor.t",
    "mindspore.nn.ReplicationPad1d",
    "mindspore.nn.ReplicationPad2d",
    "mindspore.nn.ReplicationPad3d",
    "mindspore.ops.conv2d",
    "mindspore.ops.conv3d",
    "mindspore.runtime.empty_cache",
    "mindspore.runtime.synchronize",
}


def documented(name: str) -> frozenset[str]:
    """The devices that the docstring names; all of them when it is silent."""
    found = None if name.startswith("mindspore.dataset") else installed().find(name)
    devices = frozenset(found.platforms if found else ()) & set(PLATFORMS)
    return devices or frozenset(PLATFORMS)


@cache
def helper_uses(name: str) -> frozenset[str]:
    used: set[str] = set()
    for definition in helper_index().closure([name]):
        tree = ast.parse("\n".join([*definition.imports, definition.source]))
        used |= set(names_in(tree, roots_of(tree)))
    return frozenset(used)


def uses() -> dict[str, set[str]]:
    """Row -> all MindSpore names in it, those of its helpers included, and the helpers."""
    found: dict[str, set[str]] = {}
    for entry in Table():
        names = {name for form in entry.overloads for name in written_names(form)}
        for name in [name for name in names if name in helper_index()]:
            names |= helper_uses(name)
        found[entry.torch] = names
    return found


def ran_on_cpu(rows: dict[str, set[str]]) -> set[str]:
    """Names in a row that was executed and agreed."""
    text = (folder("mappings") / "evidence.json").read_text(encoding="utf-8")
    evidence = json.loads(text)["rows"]
    agreed = [row for row in rows if evidence.get(row, {}).get("verdict") == "agrees"]
    return TRAINED.union(CALLED, *(rows[row] for row in agreed))


def document(ran: set[str]) -> str:
    """The file, given the names that ran on CPU."""
    used = set().union(*uses().values())
    names = {n: documented(n) for n in used if n.startswith("mindspore.")}
    late = sorted(n for n in names if "CPU" not in names[n] and n in ran)
    names |= {n: names[n] | {"CPU"} for n in late}
    helpers = {
        name: frozenset(PLATFORMS).intersection(*(names.get(n, PLATFORMS) for n in uses_of))
        for name in used
        if name in helper_index() and (uses_of := helper_uses(name))
    }
    return "\n".join([HEAD, *_section("names", names), *_section("helpers", helpers), *_list(late)])


def _section(title: str, found: dict[str, frozenset[str]]) -> Iterable[str]:
    yield f"[{title}]"
    groups: dict[str, list[str]] = {}
    for name, devices in sorted(found.items()):
        if devices != set(PLATFORMS):
            groups.setdefault(" ".join(d for d in PLATFORMS if d in devices), []).append(name)
    for devices, members in sorted(groups.items()):
        yield f'"{devices}" = ['
        yield from (f'  "{member}",' for member in members)
        yield "]"
    yield ""


def _list(names: list[str]) -> Iterable[str]:
    yield "[cpu]"
    yield "ran = ["
    yield from (f'  "{name}",' for name in names)
    yield "]\n"


if __name__ == "__main__":
    FILE.write_text(document(ran_on_cpu(uses())), encoding="utf-8")
    print(f"wrote {FILE.name}")
