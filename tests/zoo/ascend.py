"""Preflight of torchvision's builders: a training step of each on MindSpore's Ascend backend.

python tests/zoo/ascend.py                     what has no result of this port, then the page
python tests/zoo/ascend.py --only 'resnet.*'   these builders, again
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(CHECKOUT)]

from catalog import Case, cases  # noqa: E402
from run import _a_row_a_line, _cache, _port  # noqa: E402

from migrate.errors import RequestError  # noqa: E402
from migrate.parity.request import inputs  # noqa: E402
from migrate.parity.request.plan import Plan  # noqa: E402
from migrate.preflight import installation, process, stubs  # noqa: E402
from migrate.preflight.result import Finding, Problem, Run  # noqa: E402
from migrate.project.files import discover  # noqa: E402

MODES = ("pynative", "graph")
SOC = "Ascend910B2"
_MOST_HAZARDS = 6


def main() -> int:
    options = _options()
    wanted = cases()
    store: Path = options.output.with_suffix(".json")
    results: dict[str, Any] = json.loads(store.read_text()) if store.is_file() else {}
    package: Path = options.cache / "ported"
    options.cache.mkdir(parents=True, exist_ok=True)
    if not (options.keep_port and package.is_dir()):
        _port(package)
    stamps = _stamps(wanted, package)
    for name, row in results.items():
        row["old"] = row.get("port") != stamps.get(name)
    due = [case for case in wanted if _is_due(case, options.only, results)]
    for case in sorted(due, key=lambda case: case.size):  # a stopped sweep has the most rows
        began = time.monotonic()
        runs = _checked(case, package, options.timeout)
        results[case.name] = {**_row(case, runs, package), "port": stamps[case.name], "old": False}
        verdicts = ", ".join(f"{run.mode} {run.verdict}" for run in runs)
        seconds = time.monotonic() - began
        print(f"{case.name:32} {seconds:6.1f} s  {verdicts}", file=sys.stderr, flush=True)
        # A sweep that is stopped goes on from here.
        pending = store.with_suffix(".part")
        pending.write_text(_a_row_a_line(results), encoding="utf-8")
        pending.replace(store)
        options.output.write_text(page(wanted, results), encoding="utf-8")
    options.output.write_text(page(wanted, results), encoding="utf-8")
    judged = [case.name in results and _judged(case, results[case.name]) for case in wanted]
    return int(not all(row and _is_clean(row) for row in judged))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", metavar="PATTERN", help="builders whose whole name fits")
    parser.add_argument("--timeout", type=float, default=900.0, metavar="S", help="per mode")
    parser.add_argument("--keep-port", action="store_true", help="do not port again")
    parser.add_argument("--cache", type=Path, default=_cache(), metavar="DIR")
    parser.add_argument(
        "--output",
        type=Path,
        default=CHECKOUT / "docs" / "results" / "zoo_ascend.md",
        metavar="FILE",
    )
    return parser.parse_args()


def _is_due(case: Case, only: str | None, results: dict[str, Any]) -> bool:
    if only is not None:
        return bool(re.fullmatch(only, case.name))
    row = results.get(case.name)
    return row is None or row["old"] or _was_stopped(row)


def _was_stopped(row: dict[str, Any]) -> bool:
    """A mode was not finished in time: a quieter machine may tell."""
    messages = [f["message"] for mode in row["modes"].values() for f in mode["findings"]]
    return any("took too long" in message for message in messages)


def _stamps(wanted: list[Case], package: Path) -> dict[str, str]:
    """Of the ported files that each builder consists of: a row of another port is run again."""
    imports = discover([package]).imports
    found: dict[str, str] = {}
    for file in {case.file for case in wanted}:
        digest = hashlib.sha256()
        for path in sorted({str(package / file), *imports.below([str(package / file)])}):
            digest.update(Path(path).read_bytes())
        found[file] = digest.hexdigest()[:12]
    return {case.name: found[case.file] for case in wanted}


def _checked(case: Case, package: Path, timeout: float) -> list[Run]:
    """Both modes from one process: MindSpore is loaded once a builder."""
    here = installation.find()
    with tempfile.TemporaryDirectory(prefix="zoo-ascend-") as scratch:
        try:
            return process.run_batch(
                [_job(case, package, mode) for mode in MODES],
                here,
                stubs.prepare(here),
                Path(scratch) / "batch",
                soc=SOC,
                limits=process.Limits(timeout),
                tell=lambda line: None,
            )
        except RequestError as error:
            return [_not_run(mode, str(error)) for mode in MODES]


def _not_run(mode: str, why: str) -> Run:
    """A builder that fails before the backend is asked costs its own row, not the sweep."""
    run = Run(mode)
    run.findings.append(Finding(Problem.UNDECIDED, "", why, []))
    return run


def _job(case: Case, package: Path, mode: str) -> dict[str, Any]:
    plan = Plan(inputs=[inputs.parse(case.input)], classes=case.classes, loss=case.loss)
    return {
        "kind": "target",
        "target": f"{package / case.file}:{case.name}({case.arguments})",
        "plan": plan.to_json(),
        "loss_target": "",
        "optimizer_target": "",
        "roots": [str(package)],
        "mode": mode,
        "ranks": 1,
    }


def _row(case: Case, runs: list[Run], package: Path) -> dict[str, Any]:
    return {
        "kind": case.kind,
        "input": case.input,
        "date": date.today().isoformat(),
        "modes": {run.mode: _mode(run, package) for run in runs},
    }


def _mode(run: Run, package: Path) -> dict[str, Any]:
    return {
        "verdict": run.verdict,
        "kernels": {str(kind): count for kind, count in run.by_kind.items()},
        "peak": run.peak_bytes,
        "findings": [
            {
                "problem": str(finding.problem),
                "operator": finding.operator,
                "gradient": finding.gradient,
                "count": finding.count,
                "message": finding.message[:160].replace(str(package), "."),
                "places": [
                    f"{Path(p.file).relative_to(package)}:{p.line}"
                    for p in finding.places
                    if Path(p.file).is_relative_to(package)
                ],
            }
            for finding in run.findings
        ],
    }


def _judged(case: Case, row: dict[str, Any]) -> dict[str, Any]:
    """A row whose model was not built whole says nothing: one that computes its own structure with
    tensors (regnet's widths) finds no values in a dry run. A byte a parameter is far too little.
    """
    if max(mode["peak"] for mode in row["modes"].values()) >= case.size:
        return row
    message = "the model was built from values that a dry run does not compute, and is not whole"
    finding = {
        "problem": str(Problem.UNDECIDED),
        "operator": "",
        "gradient": False,
        "count": 1,
        "message": message,
        "places": [],
    }
    modes = {
        name: {**mode, "verdict": "undecided", "findings": [*mode["findings"], finding]}
        for name, mode in row["modes"].items()
    }
    return {**row, "modes": modes}


def _is_clean(row: dict[str, Any] | None) -> bool:
    return row is not None and all(m["verdict"] == "accepted" for m in row["modes"].values())


def page(wanted: list[Case], results: dict[str, Any]) -> str:
    """What was run, hazards first."""
    results = {
        case.name: _judged(case, results[case.name]) for case in wanted if case.name in results
    }
    known = [case for case in wanted if case.name in results]
    clean = sum(_is_clean(results[case.name]) for case in known)
    missing = len(wanted) - len(known)
    old = sum(bool(row["old"]) for row in results.values())
    lines = [
        "# The zoo on MindSpore's Ascend backend, in dry run",
        "",
        "Every builder below was ported from the installed torchvision package with no hand edit;",
        "one training step (forward, loss, gradients, SGD) went through MindSpore's Ascend backend",
        f"as {SOC}, without a device. [What that leaves unchecked](../preflight.md).",
        "",
        "Command: `make zoo-ascend`",
        "",
        f"{len(known)} of {len(wanted)} builders were run; {clean} are accepted in both modes with",
        "every kernel on the device."
        + (f" **{missing} builders have not been run**: not the whole table." if missing else "")
        + (f" **{old} rows are of an earlier port.**" if old else ""),
        "",
        *_hazards({case.name: results[case.name] for case in known}),
        "## Builders",
        "",
        "| builder | input | PyNative | kernels | Graph | kernels | peak memory | run on |",
        "|---|---|---|---|---|---|---|---|",
        *(_line(case, results[case.name]) for case in known),
    ]
    return "\n".join(lines) + "\n"


def _line(case: Case, row: dict[str, Any]) -> str:
    eager, graph = (row["modes"][mode] for mode in MODES)
    kinds = [
        ", ".join(f"{count} {kind}" for kind, count in mode["kernels"].items())
        for mode in (eager, graph)
    ]
    peak = max(eager["peak"], graph["peak"]) / 2**20
    return (
        f"| {case.name} | {case.input.replace(',', 'x')} | {eager['verdict']} | {kinds[0]} "
        f"| {graph['verdict']} | {kinds[1]} | {peak:.0f} MiB | {row['date']} |"
    )


def _hazards(results: dict[str, Any]) -> Iterator[str]:
    """Each problem once, with the builders and the first lines that have it."""
    builders: dict[tuple[str, str, str], set[str]] = {}
    places: dict[tuple[str, str, str], Counter[str]] = {}
    for name, row in results.items():
        for mode in row["modes"].values():
            for finding in mode["findings"]:
                side = " (gradient)" if finding["gradient"] else ""
                operator = f"{finding['operator']}{side}"
                text = "" if finding["problem"].startswith("runs on") else finding["message"]
                key = finding["problem"], operator, text
                builders.setdefault(key, set()).add(name)
                places.setdefault(key, Counter()).update(finding["places"])
    if not builders:
        return
    yield from (
        "## Hazards",
        "",
        "| problem | operator | builders | lines of the ported files |",
        "|---|---|---|---|",
    )
    for key in sorted(builders, key=lambda key: (key[0], -len(builders[key]), key[1])):
        problem, operator, text = key
        named = sorted(builders[key])
        more = f" and {len(named) - _MOST_HAZARDS} more" if len(named) > _MOST_HAZARDS else ""
        where = ", ".join(place for place, _ in places[key].most_common(3))
        said = f"{problem}: {text}" if text else problem
        yield (
            f"| {said.replace('|', ' ')} | {operator} "
            f"| {', '.join(named[:_MOST_HAZARDS])}{more} | {where} |"
        )
    yield ""


if __name__ == "__main__":
    sys.exit(main())
