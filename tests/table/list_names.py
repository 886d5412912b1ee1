"""Write mappings/mindspore_names.json from the scanned releases: names by the release they came in.

    python -m tests.table.list_names

Modules of the installed MindSpore are listed too, since a program may name a module.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

from migrate.resources import folder
from migrate.table.entry import VERSIONS
from tests.table.scan_wheels import in_version, read_facts

LIST = folder("mappings") / "mindspore_names.json"


def names_by_release() -> dict[str, dict[str, list[str]]]:
    """Release -> the names that it added, and those that it took away."""
    facts = read_facts()
    there = {v: {n for n in facts if in_version(facts, n, v) is not None} for v in VERSIONS}
    there[VERSIONS[0]] |= modules()
    found: dict[str, dict[str, list[str]]] = {}
    earlier: set[str] = set()
    for version in VERSIONS:
        now = there[version] | modules()
        found[version] = {"added": sorted(now - earlier), "removed": sorted(earlier - now)}
        earlier = now
    return found


def modules() -> set[str]:
    """The public modules of the installed MindSpore, three levels deep; nothing is imported."""
    spec = importlib.util.find_spec("mindspore")
    assert spec is not None and spec.origin is not None
    top = Path(spec.origin).parent
    found = {"mindspore"}
    for path in [*top.glob("*"), *top.glob("*/*"), *top.glob("*/*/*")]:
        package = path.is_dir() and (path / "__init__.py").is_file()
        if package or (path.suffix == ".py" and path.name != "__init__.py"):
            parts = path.relative_to(top).with_suffix("").parts
            if not any(part.startswith("_") for part in parts):
                found.add(".".join(("mindspore", *parts)))
    return found


if __name__ == "__main__":
    LIST.write_text(json.dumps(names_by_release(), indent=0) + "\n", encoding="utf-8")
