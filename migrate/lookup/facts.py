"""A row's facts in the order a reader asks for them; text and JSON show the same ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from migrate.envelope import as_text, envelope
from migrate.lookup.names import Answer
from migrate.resources import folder
from migrate.table import Entry, Overload, Table
from migrate.table.entry import MODES, PLATFORMS
from migrate.table.evidence import contradiction, dry_run
from migrate.table.reference_pages import reference
from migrate.table.signature import Parameter, Signature


class Argument(NamedTuple):
    """One line of the comparison: torch's parameter, MindSpore's, and what happens between."""

    torch: str
    mindspore: str
    how: str


def arguments(overload: Overload) -> list[Argument]:
    """Side by side, in torch's order; parameters that only MindSpore needs come last."""
    signature = overload.signature
    if signature is None:
        return []
    rows = [_argument(overload, parameter) for parameter in signature.parameters]
    placed = {overload.rename.get(name, name) for name in signature.names}
    for name, text in overload.pin.items():
        if name not in placed:
            rows.append(
                Argument("", f"{name}={text}", "always written: MindSpore's default differs")
            )
    return rows


def _argument(overload: Overload, parameter: Parameter) -> Argument:
    name = parameter.name
    shown = _parameter(parameter)
    if name in overload.drop:
        return Argument(shown, "", "dropped: without effect here")
    if name in overload.refuse:
        kept = "" if parameter.required else f"only {parameter.default}; "
        return Argument(shown, "", f"{kept}{overload.refuse[name]}")
    target = overload.rename.get(name, name)
    how = "renamed" if target != name else "same"
    if overload.emit and not overload.mindspore:
        used = f"{{{name}}}" in overload.emit
        target, how = "", "goes into the expression" if used else "not used"
    if name in overload.values:
        table = overload.values[name]
        how = "constants: " + ", ".join(f"{a} → {b or 'left out'}" for a, b in table.items())
    if target in overload.pin and target:
        text = overload.pin[target]
        return Argument(shown, f"{target}={text}", _join(how, "written even when left out"))
    return Argument(shown, target, how)


def _join(how: str, more: str) -> str:
    return more if how == "same" else f"{how}; {more}"


def _parameter(parameter: Parameter) -> str:
    star = {"varargs": "*", "varkwargs": "**"}.get(parameter.kind, "")
    typed = f"{star}{parameter.name}" + (f": {parameter.type}" if parameter.type else "")
    if parameter.required or star:
        return typed
    return f"{typed} = {parameter.default}" if parameter.type else f"{typed}={parameter.default}"


def form(entry: Entry, overload: Overload) -> str:
    """How this form is called, for rows that have several."""
    signature: Signature | None = overload.signature
    if signature is None:
        return entry.torch
    return f"{entry.torch}({', '.join(map(_parameter, signature.parameters))})"


def targets(overload: Overload) -> list[tuple[str, str]]:
    """What is written instead, each with the word that says what kind of thing it is."""
    found = []
    if overload.mindspore:
        found.append(("MindSpore", overload.mindspore))
    if overload.emit:
        found.append(("written as", overload.emit))
    if overload.helper:
        when = "where the call needs it or the name is passed on: " if found else ""
        found.append(("helper", f"{when}{overload.helper}, with torch's own signature"))
    if overload.mint:
        found.append(("mint", _in_mint(overload)))
    return found


def _in_mint(overload: Overload) -> str:
    """mint's name or expression, the arguments that it lacks, and since when it is there."""
    facts = overload.mint_facts
    lacking = [name for name in facts.get("refuse", ()) if name not in overload.refuse]
    without = f", without {', '.join(lacking)}" if lacking else ""
    since = f", since MindSpore {facts['since']}" if facts.get("since") else ""
    return f"{facts.get('emit') or overload.mint}{without}{since}"


_WHOLE = re.MULTILINE | re.DOTALL


def rule_summary(name: str) -> str:
    """The rule's own first sentence, read as text: importing the porter costs half a second."""
    folder = Path(__file__).parent.parent / "rewrite" / "rules"
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if re.search(rf"^def {re.escape(name)}\(", text, re.MULTILINE):
            own = re.search(rf'^def {re.escape(name)}\([^"]*?"""(.+?)"""', text, _WHOLE)
            found = own or re.match(r'\s*"""(.+?)"""', text, re.DOTALL)
            first = " ".join(found[1].partition("\n\n")[0].split()) if found else ""
            return re.split(r"(?<=\w[.)])\s+(?=[A-Z`])", first)[0].rstrip(".")
    return ""


def evidence(entry: Entry, folder: Path) -> list[str]:
    """What was measured for this row, where the table has been verified."""
    from migrate.table import program_evidence
    from migrate.table.evidence import said

    if not said(entry.torch, folder):
        programs = program_evidence.said(entry.torch, folder)
        return [programs] if programs else []
    from migrate.verify.fingerprint import row_hash

    return [said(entry.torch, folder, row_hash(entry))]


def as_document(table: Table, answers: Sequence[Answer]) -> str:
    """The stable JSON form."""
    body = {
        "answers": [
            {
                "query": answer.query,
                "exact": answer.exact,
                "rows": [_row(table, entry) for entry in answer.entries],
            }
            for answer in answers
        ],
    }
    return as_text(envelope("lookup", body))


def _row(table: Table, entry: Entry) -> dict[str, Any]:
    return {
        "torch": entry.torch,
        "kind": entry.kind,
        "status": entry.status,
        "target": entry.target,
        "note": entry.note,
        "way": entry.way,
        "platforms": list(entry.platforms),
        "modes": list(entry.modes),
        "since": entry.since,
        "reference": reference(entry),
        "inplace": entry.inplace,
        "feature": entry.feature,
        "forms": [
            {
                "params": overload.params,
                "mindspore": overload.mindspore,
                "mint": overload.mint,
                "emit": overload.emit,
                "helper": overload.helper,
                "rules": list(overload.rules),
                "arguments": [argument._asdict() for argument in arguments(overload)],
            }
            for overload in entry.overloads
        ],
        "examples": [{"before": before, "after": after} for before, after in entry.examples],
        "evidence": evidence(entry, table.folder),
    }


def platforms(entry: Entry) -> str:
    """Where it runs, in words; silence about what is complete would leave doubt."""
    devices = (
        "all devices" if set(entry.platforms) == set(PLATFORMS) else ", ".join(entry.platforms)
    )
    names = {"pynative": "PyNative", "graph": "Graph"}
    modes = " and ".join(names[mode] for mode in entry.modes)
    if set(entry.modes) != set(MODES):
        modes += " only"
    since = f"; since MindSpore {entry.since}" if entry.since else ""
    return f"{devices}, {modes}{since}{_against_documentation(entry)}"


def _against_documentation(entry: Entry) -> str:
    """What the dry run says of an Ascend, where MindSpore's documentation says otherwise."""
    verdict = dry_run(entry.torch, folder("mappings")).get("verdict", "")
    said = contradiction(tuple(entry.platforms), verdict)
    return f"; on an Ascend, in dry run: {verdict}, although {said}" if said else ""
