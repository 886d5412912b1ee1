"""Make mindspore_names.json: every public MindSpore name, and its parameters in each release.

Also writes the names in mappings/mint.toml: those of mindspore.mint that some row leads to.

    python -m tests.table.scan_wheels FOLDER

FOLDER holds the unpacked Python files of a wheel for each release, as FOLDER/2.7.0/mindspore and
so on. A wheel is a zip archive of almost a gigabyte, of which only the *.py files are wanted:

    pip download mindspore==2.7.0 --no-deps --only-binary :all: --python-version 3.11
    unzip -q mindspore-2.7.0-*.whl '*.py' -d FOLDER/2.7.0

Several patch releases of one minor release count as one: a name must be in all of them.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

from migrate.resources import folder
from migrate.table import Table
from migrate.table.entry import VERSIONS, version_key
from migrate.table.helper_pieces import helper_index
from migrate.table.mint import KINDS, mint_name
from tests.table.emitted_calls import ROOTS, from_template, names_in, roots_of
from tests.table.mindspore_source import ANY, Source

FACTS = Path(__file__).with_name("mindspore_names.json")
# Members that no scan of the sources finds: those that only the compiled part defines, with the
# release whose _c_expression first has the name, and those of objects and private names.
COMPILED = {
    "mindspore.Tensor.__getitem__": "2.7",
    "mindspore.Tensor.__setitem__": "2.7",
    "mindspore.Tensor.device": "2.8",
    "mindspore.Tensor.is_complex": "2.7",
    "mindspore.Tensor.is_pinned": "2.8",
    "mindspore.Tensor.is_signed": "2.7",
    "mindspore.Tensor.requires_grad_": "2.8",
    "mindspore.Tensor.grad": "2.7",  # which the helpers add
    "mindspore._Function": "2.7",
    "mindspore._c_dataengine.deregister_worker_pids": "2.10",
    "mindspore.common.recompute._pynative_executor.grad_flag": "2.7",
}
MINT = folder("mappings") / "mint.toml"
_WRITTEN = "# Written by python -m tests.table.scan_wheels"
Facts = dict[str, dict[str, str | None]]


def read_facts() -> Facts:
    """Name -> the release from which its parameters are so; None from where it is gone."""
    facts: dict[str, Any] = json.loads(FACTS.read_text(encoding="utf-8"))
    return {n: {VERSIONS[0]: h} if isinstance(h, str) else h for n, h in facts.items()}


def in_version(facts: Facts, name: str, version: str) -> str | None:
    """The parameter lists of a name in a release, joined by ` | `; None when it is not there."""
    found: str | None = None
    for since, forms in facts.get(name, {}).items():
        if VERSIONS.index(since) <= VERSIONS.index(version):
            found = forms
    return found


def scan(releases: Path) -> dict[str, dict[str, str]]:
    """Release -> name -> parameter lists."""
    mentioned = mentioned_names()
    found: dict[str, dict[str, str]] = {}
    for version in VERSIONS:
        places = sorted(
            p for p in releases.iterdir() if re.match(rf"{re.escape(version)}\b", p.name)
        )
        if not places:
            raise SystemExit(f"{releases} has no release {version}")
        each = [_names(Source(place), mentioned) for place in places]
        found[version] = {
            name: forms for name, forms in each[-1].items() if all(name in one for one in each)
        }
        for name, since in COMPILED.items():
            if version_key(since) <= version_key(version):
                found[version].setdefault(name, ANY)
    return found


def _names(source: Source, mentioned: set[str]) -> dict[str, str]:
    """The public names, and those members of classes that the table or a helper mentions."""
    found = dict(source.names())
    found |= {n: d for n in mentioned - set(found) if (d := source.find(n)) is not None}
    return {name: " | ".join(definition.forms) for name, definition in found.items()}


def mentioned_names() -> set[str]:
    """All MindSpore names in rows, templates and helpers."""
    names = {form.mindspore for entry in Table() for form in entry.overloads}
    for entry in Table():
        for form in entry.overloads:
            for text in (form.emit, form.mint_facts.get("emit", "")):
                names |= set(names_in(from_template(text), ROOTS)) if text else set()
    for definition in helper_index().definitions.values():
        tree = ast.parse("\n".join([*definition.imports, definition.source]))
        names |= set(names_in(tree, roots_of(tree)))
    return names - {""}


def changes(found: dict[str, dict[str, str]]) -> Facts:
    """Only where something changes is it said again."""
    facts: Facts = {}
    for name in sorted({name for names in found.values() for name in names}):
        history: dict[str, str | None] = {}
        last: str | None = None
        for version in VERSIONS:
            now = found[version].get(name)
            if now != last:
                history[version] = last = now
        facts[name] = history
    return facts


def written_facts(facts: Facts) -> str:
    """A line for a name; one that never changed is its parameters alone."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(h[VERSIONS[0]] if list(h) == [VERSIONS[0]] else h)}"
        for name, h in facts.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def mint_names(facts: Facts) -> str:
    """The part of mint.toml that follows from the facts and from the rows' names."""
    wanted = {mint_name(entry.torch) for entry in Table() if entry.kind in KINDS}
    wanted |= {form.mint for entry in Table() for form in entry.overloads}
    lines = [_WRITTEN]
    space = ""
    for name in sorted(wanted & set(facts), key=lambda n: (n.rpartition(".")[0], n)):
        params = in_version(facts, name, VERSIONS[-1])
        if params is None or params == ANY:
            continue
        owner, _, last = name.rpartition(".")
        if owner != space:
            lines += ["", f'[names."{owner}"]']
            space = owner
        forms = params.split(" | ")
        value = json.dumps(forms[0] if len(forms) == 1 else forms)
        since = next(iter(facts[name]))
        if since != VERSIONS[0]:
            value = f'{{ params = {value}, since = "{since}" }}'
        lines.append(f"{last} = {value}")
    return "\n".join(lines) + "\n"


def main() -> None:
    facts = changes(scan(Path(sys.argv[1])))
    FACTS.write_text(written_facts(facts), encoding="utf-8")
    text = MINT.read_text(encoding="utf-8") if MINT.exists() else ""
    MINT.write_text(text.partition(_WRITTEN)[0] + mint_names(facts), encoding="utf-8")
    print(f"{len(facts)} names in {FACTS.name}")


if __name__ == "__main__":
    main()
