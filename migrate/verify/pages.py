"""Generated pages: one searchable page a namespace, and the totals of the last sweep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from migrate.report.output import write_file
from migrate.table import Entry, Table
from migrate.table.evidence import TAKEN, Evidence
from migrate.verify.ascend_tally import NOT_RUN, REFUSALS
from migrate.verify.fingerprint import row_hash

_MADE = "<!-- Made by `ms-migrate verify --update`; edit mappings/*.toml instead. -->\n"
_KINDS = {
    "op": "operators of op_db that take float32",
    "module": "modules of module_db (lazy ones left out)",
    "optimizer": "optimizers of optim_db",
    "schedule": "learning rate schedules",
    "layer": "layers with samples of our own",
    "own": "functions and methods with samples of our own",
}


_COLUMNS: tuple[tuple[str, Callable[[dict[str, Any]], bool]], ...] = (
    ("all agrees", lambda f: f["verdict"] == "agrees"),
    ("agrees, but not in Graph mode", lambda f: bool(f.get("graph_only"))),
    (
        "agrees, but for inputs without elements, dimensions or batch",
        lambda f: bool(f.get("edge_only")) and f["verdict"] != "refused",
    ),
    ("refused by the porter", lambda f: f["verdict"] == "refused"),
    ("fails in MindSpore", lambda f: f["verdict"] == "fails"),
    ("disagrees", lambda f: f["verdict"] == "disagrees"),
    ("not tried", lambda f: True),
)


def write_pages(table: Table, evidence: Evidence, docs: Path) -> None:
    """All pages, each whole or unchanged."""
    (docs / "results").mkdir(exist_ok=True)
    (docs / "api").mkdir(exist_ok=True)
    write_file(docs / "results" / "verify.md", results_page(evidence))
    for name, text in api_pages(table, evidence).items():
        write_file(docs / "api" / name, text)


# Results ----------------------------------------------------------------------------------------


def results_page(evidence: Evidence) -> str:
    """Totals first, then every case that does not fully agree, each with its reason."""
    versions = ", ".join(f"{name} {version}" for name, version in evidence.versions.items())
    lines = [
        "# What agrees with torch",
        "",
        _MADE,
        f"Measured with {versions} on {evidence.platform}. Samples of torch's own databases are",
        "written as source, sent through the porter, run with MindSpore and compared: values,",
        "dtype, shape, gradients, and again under `mindspore.jit`. [How](../verify.md).",
        "",
        *_totals(evidence),
    ]
    for kind, title in _KINDS.items():
        bad = {
            key: found
            for key, found in sorted(evidence.cases.items())
            if key.startswith(f"{kind}:") and found["verdict"] != "agrees"
        }
        if bad:
            lines += ["", f"## {title}: not all samples agree", "", *_case_table(bad)]
    lines += _accepting(evidence)
    return "\n".join(lines) + "\n"


def _accepting(evidence: Evidence) -> list[str]:
    """Rows whose port computes something where torch raises an error."""
    known = {name: found for name, found in sorted(evidence.rows.items()) if "accepts" in found}
    if not known:
        return []
    lines = ["", "## errors of torch that are none here", ""]
    lines += [
        "Of the calls for which torch's database expects an error, MindSpore refuses the first",
        "number of the second; the first call that it accepts is quoted.",
        "",
        "| row | errors | accepted |",
        "|---|--:|---|",
    ]
    return lines + [
        f"| `{name}` | {found['errors']} | {_cell(found['accepts'])} |"
        for name, found in known.items()
    ]


def _totals(evidence: Evidence) -> list[str]:
    """Each case in exactly one column, from the best to the worst."""
    names = [name for name, _ in _COLUMNS]
    lines = [f"| what | tried | {' | '.join(names)} |", "|---|--:" + "|--:" * len(names) + "|"]
    for kind, title in _KINDS.items():
        cases = [f for key, f in evidence.cases.items() if key.startswith(f"{kind}:")]
        if cases:
            lines.append(_total(title, cases))
    lines.append(_total("rows of the table", list(evidence.rows.values())))
    return lines


def _total(title: str, found: list[dict[str, Any]]) -> str:
    counts = [0] * len(_COLUMNS)
    for one in found:
        counts[next(place for place, (_, fits) in enumerate(_COLUMNS) if fits(one))] += 1
    return f"| {title} | {len(found)} | " + " | ".join(map(str, counts)) + " |"


def _case_table(cases: dict[str, dict[str, Any]]) -> list[str]:
    lines = ["| entry | verdict | values | gradients | Graph | why |", "|---|---|--:|--:|--:|---|"]
    for key, found in cases.items():
        counts = [found.get(stage, "") for stage in ("forward", "gradient", "graph")]
        verdict = found["verdict"] + (", at the edge only" if found.get("edge_only") else "")
        lines.append(
            f"| {key.partition(':')[2]} | {verdict} | {' | '.join(counts)} "
            f"| {_cell(found.get('first', ''))} |"
        )
    return lines


# One page a namespace ---------------------------------------------------------------------------


def api_pages(table: Table, evidence: Evidence) -> dict[str, str]:
    """File name -> text, with an index."""
    pages: dict[str, str] = {}
    index = ["# APIs by namespace", "", _MADE, "| namespace | rows | measured |", "|---|--:|--:|"]
    for namespace in sorted(table.namespaces):
        entries = _entries(table, namespace)
        if not entries:
            continue
        measured = sum(entry.torch in evidence.rows for entry in entries)
        index.append(f"| [{namespace}]({namespace}.md) | {len(entries)} | {measured} |")
        pages[f"{namespace}.md"] = _page(namespace, entries, evidence)
    pages["README.md"] = "\n".join(index) + "\n"
    return pages


def _entries(table: Table, namespace: str) -> list[Entry]:
    found = {entry.torch: entry for entry in table if _home(table, entry.torch) == namespace}
    return [found[name] for name in sorted(found, key=str.lower)]


def _home(table: Table, name: str) -> str:
    """The file that holds a row: the longest namespace above it."""
    while name and name not in table.namespaces:
        name = name.rpartition(".")[0]
    return name


def _page(namespace: str, entries: list[Entry], evidence: Evidence) -> str:
    lines = [
        f"# {namespace}",
        "",
        _MADE,
        "The last column is what MindSpore's Ascend backend says [in dry run](../preflight.md).",
        "",
        "| torch | MindSpore | status | differences | evidence | Ascend |",
        "|---|---|---|---|---|---|",
    ]
    for entry in entries:
        short = entry.torch.removeprefix(f"{namespace}.")
        target = f"`{entry.target}`" if entry.target else "none"
        lines.append(
            f"| `{short}` | {_cell(target)} | {entry.status} | {_cell(_differences(entry))} "
            f"| {_cell(_measured(entry, evidence))} | {_cell(_on_ascend(entry, evidence))} |"
        )
    return "\n".join(lines) + "\n"


def _differences(entry: Entry) -> str:
    parts = [text for text in (entry.note, entry.way) if text]
    for overload in entry.overloads:
        refused = [f"`{name}`: {why}" for name, why in overload.refuse.items() if name != "out"]
        parts += [text for text in refused if text not in parts]
    return "; ".join(parts)


def _measured(entry: Entry, evidence: Evidence) -> str:
    found = evidence.rows.get(entry.torch)
    if found is None:
        return "" if entry.status == "missing" else "not measured"
    counts = [found[stage] for stage in ("forward", "gradient", "graph") if stage in found]
    text = f"{found['verdict']}" + (f" {', '.join(counts)}" if counts else "")
    return text if found["hash"] == row_hash(entry) else f"stale: {text}"


def _on_ascend(entry: Entry, evidence: Evidence) -> str:
    """`accepted`, or `AI CPU: Lgamma`, and the dtypes that are refused beside float32."""
    found = evidence.rows.get(entry.torch, {}).get("ascend")
    if found is None:
        return ""
    text = str(found["verdict"])
    operator = found.get("first", "").partition(": ")[2].partition(": ")[0]
    if text not in ("accepted", NOT_RUN) and operator:
        text += f": {operator}"
    refused = [name for name, said in found.get("dtypes", {}).items() if said in REFUSALS]
    if refused and found["verdict"] in TAKEN:
        text += f"; not for {', '.join(refused)}"
    return text if found.get("hash") == row_hash(entry) else f"stale: {text}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
