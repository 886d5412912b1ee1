"""Why rows keep operators that an Ascend runs on its AI CPU or on the host, from
mappings/ascend_kernels.toml.
"""

from __future__ import annotations

import tomllib
from functools import cache

from migrate.resources import folder

FILE = "ascend_kernels.toml"


@cache
def reasons() -> dict[str, str]:
    """By operator."""
    document = tomllib.loads((folder("mappings") / FILE).read_text(encoding="utf-8"))
    return {name: group["text"] for group in document["reason"] for name in group["operators"]}


def reason(first: str) -> str:
    """For what a dry run says first: `forward: Lgamma, Polygamma`; empty where one has none."""
    named = first.partition(": ")[2].split(", ")
    found = [reasons().get(name, "") for name in named]
    return "; ".join(dict.fromkeys(found)) if all(found) else ""
