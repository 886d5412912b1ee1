"""A parity result as one self-contained page: verdict, diagnosis, charts, modules, tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from migrate.parity.judge import source_files
from migrate.parity.judge.compare import STAGES, Comparison, Row
from migrate.parity.judge.provenance import REPORT
from migrate.parity.workers.structure import Place
from migrate.report import loss_chart, parity_chart, parity_tree
from migrate.report.output import write_file
from migrate.report.pages import facts, render_page
from migrate.report.parity_chart import Chart, Point

if TYPE_CHECKING:
    from migrate.parity.check import Report
    from migrate.parity.judge.diagnose import Diagnosis

_MOST_ROWS = 2000
_NOISE = "times the noise floor away"
_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)( to line \d+)?")
COLUMNS = (
    ("relative Euclidean", "relative_euclidean"),
    ("floor", ""),
    ("max abs", "max_abs"),
    ("at", "max_index"),
    ("cosine", "cosine"),
    ("mean relative", "mean_relative"),
    ("accumulated relative", "accumulated_relative"),
    ("KL", "kl_divergence"),
    ("torch mean", "truth_mean"),
    ("MindSpore mean", "other_mean"),
    ("torch std", "truth_std"),
    ("MindSpore std", "other_std"),
    ("size", "size"),
)


def write(report: Report, path: Path) -> None:
    """Write the page; it is whole or not there."""
    write_file(path, render(report, path.resolve().parent))


def render(report: Report, base: Path | None = None) -> str:
    """The page as text."""
    verdict = {0: "Parity", 1: "Diverges", 2: "Could not run"}[report.exit_code]
    culprit = report.diagnosis.path if report.diagnosis else ""
    watched = next((c for c in report.comparisons if c.layers), None)
    notes = dict.fromkeys(note for comparison in report.comparisons for note in comparison.notes)
    return render_page(
        "parity.html",
        base=base,
        title=f"{verdict}: {report.mindspore}",
        heading=verdict,
        good=report.exit_code == 0,
        lead=_lead(report),
        facts=[*_facts(report), *facts("", project_known=False)],
        diagnosis=_diagnosis(report.diagnosis) if report.diagnosis else None,
        allowed=_allowed(report),
        modes=[comparison.mode for comparison in report.comparisons],
        stages=_stages(report),
        comparisons=report.comparisons,
        failures=report.failures,
        loss_chart=loss_chart.chart(report.comparisons),
        charts=_charts(report, watched, culprit),
        tree=parity_tree.tree(watched, culprit) if watched is not None else None,
        columns=[name for name, _ in COLUMNS],
        tables=[_tables(comparison) for comparison in report.comparisons],
        notes=list(notes),
    )


def _lead(report: Report) -> str:
    if report.exit_code == 0:
        return "The MindSpore model computes what the torch model computes."
    found = report.diagnosis
    if found is None:
        return "See below for what happened."
    where = found.path or "the model's own code"
    if found.mindspore_statement:
        place = f", {found.mindspore_place}" if found.mindspore_place else ""
        where = f"{found.path or 'the model'}: {found.mindspore_statement}{place}"
    if found.kind in ("loss", "optimizer"):
        where = f"the {found.kind}"
    alone = ", confirmed by running it alone" if found.confirmed and found.kind == "layer" else ""
    word = "First at" if report.exit_code == 1 else "Stopped at"
    return f"{word} {where} (stage: {found.stage}){alone}."


@dataclass(frozen=True)
class Side:
    """One framework's part of a diagnosis."""

    name: str
    layer: str
    place: str
    file: str
    line: str
    wrong: bool


def _diagnosis(found: Diagnosis) -> dict[str, Any]:
    sides = []
    for name, layer, statement, place in (
        ("torch", found.torch, found.torch_statement, found.torch_place),
        ("MindSpore", found.mindspore, found.mindspore_statement, found.mindspore_place),
    ):
        if layer or place:
            line = statement or _source_line(place)
            wrong = name == "MindSpore" and not found.as_ported and bool(line)
            sides.append(Side(name, layer, place, _file_of(place), line, wrong))
    return {
        "text": " ".join([found.sentence, *found.hints]),
        "sides": sides,
        "written": found.emitted if not found.as_ported else "",
        "row": f"{found.row} {REPORT}" if found.row and found.as_ported else found.row,
        "innocent": ", ".join(found.innocent),
    }


def _file_of(place: str) -> str:
    """The file of a place, if it is here to be opened."""
    match = _PLACE.fullmatch(place)
    try:
        source_files.read(match["file"] if match else "")
    except (OSError, ValueError):
        return ""
    return match["file"] if match else ""


def _source_line(place: str) -> str:
    """The text at file:line, if the file is here to be read."""
    match = _PLACE.fullmatch(place)
    if match is None:
        return ""
    try:
        return source_files.read(match["file"]).splitlines()[int(match["line"]) - 1].strip()
    except (OSError, ValueError, IndexError):
        return ""


def _stages(report: Report) -> list[tuple[str, list[dict[str, Any]]]]:
    """All stages of all modes at a glance."""
    used = [s for s in STAGES if any(r.stage == s for c in report.comparisons for r in c.rows)]
    return [(stage, [_stage(c, stage) for c in report.comparisons]) for stage in used]


def _stage(comparison: Comparison, stage: str) -> dict[str, Any]:
    rows = [row for row in comparison.rows if row.stage == stage]
    worst = max((row.judgement.ratio for row in rows), default=0.0)
    return {
        "count": len(rows),
        "wrong": len(comparison.failed(stage)),
        "noise": f"{worst:.2g}" if worst and isfinite(worst) else "",
    }


def _facts(report: Report) -> list[tuple[str, str]]:
    plan = report.plan
    inputs = ", ".join(
        spec["file"] or f"{'x'.join(map(str, spec['shape']))} {spec['dtype']}"
        for spec in plan["inputs"]
    )
    cost = ", ".join(
        f"{s.name} {s.seconds:.1f} s, {s.peak_bytes / 2**20:.0f} MiB" for s in report.sides
    )
    return [
        (f"torch {report.versions.get('torch', '')}", report.torch),
        (f"MindSpore {report.versions.get('mindspore', '')}", report.mindspore),
        (
            "step",
            f"{inputs}; {'train' if plan['train'] else 'eval'}; loss {plan['loss']}; optimizer "
            f"{plan['optimizer']}; {plan['steps']} step(s); seed {plan['seed']}; amp {plan['amp']}",
        ),
        ("allowed", _allowed(report)),
        ("cost", f"{report.seconds:.1f} s ({cost})" if cost else f"{report.seconds:.1f} s"),
    ]


def _allowed(report: Report) -> str:
    plan, tolerance = report.plan, report.tolerance
    if tolerance.fixed:
        return f"rtol {tolerance.rtol or 0:g}, atol {tolerance.atol or 0:g}"
    kind = "float32" if plan["amp"] == "O0" else "float16"
    return f"at most {tolerance.factor:g} times, measured in {plan['noise_runs']} {kind} runs"


def _charts(report: Report, watched: Comparison | None, culprit: str) -> list[Chart]:
    factor, fixed = report.tolerance.factor, report.tolerance.fixed
    found: list[Chart | None] = []
    if watched is not None:
        layers = [
            Point(f"{watched.mode} layers {layer.name}", layer.name, _part(layer.path), layer.worst)
            for layer in watched.layers
            if layer.path
        ]
        title, what = "Every layer along the network", "outputs of the layers"
        found.append(parity_chart.chart(title, what, layers, factor, culprit, fixed=fixed))
    for comparison in report.comparisons:
        order = _definition_order(comparison)
        rows = [row for row in comparison.rows if row.stage == "gradients" and row.name in order]
        rows.sort(key=lambda row: order[row.name])
        points = [
            Point(f"{comparison.mode} gradients {r.name}", r.name, _part(r.name), r.judgement)
            for r in rows
        ]
        # Where the outputs differ already, no gradient is to blame.
        wrong = [p.name for p in points if not p.judgement.ok]
        first = wrong[-1] if wrong and comparison.first_stage == "gradients" else ""
        title, what = f"Every gradient, {comparison.mode} mode", "gradients of the parameters"
        found.append(parity_chart.chart(title, what, points, factor, first, fixed=fixed))
    return [chart for chart in found if chart is not None]


def _definition_order(comparison: Comparison) -> dict[str, int]:
    names = [
        f"{path}.{local}" if path else local
        for path, module in comparison.modules.items()
        for local in module.variables
    ]
    return {name: index for index, name in enumerate(names)}


def _part(path: str) -> str:
    """The part of the network that a path is in: its first word, with a number after it."""
    words = path.split(".")
    return ".".join(words[:2]) if len(words) > 2 and words[1].isdigit() else words[0]


def _tables(comparison: Comparison) -> dict[str, Any]:
    places = _places(comparison)
    tables = []
    for stage in STAGES:
        rows = [row for row in comparison.rows if row.stage == stage]
        if rows:
            made = [_row(row, comparison.mode, places) for row in rows[:_MOST_ROWS]]
            more = len(rows) - len(made)
            opened = stage == comparison.first_stage
            summary = _stage(comparison, stage)
            tables.append({"stage": stage, "open": opened, "rows": made, "more": more, **summary})
    return {"mode": comparison.mode, "tables": tables}


def _places(comparison: Comparison) -> dict[str, list[tuple[str, Place]]]:
    """Where each layer is made, by its path, in both sources that can be read here."""
    known: dict[str, bool] = {}

    def readable(place: Place) -> bool:
        if place.file not in known:
            known[place.file] = bool(_file_of(f"{place.file}:1"))
        return known[place.file]

    found: dict[str, list[tuple[str, Place]]] = {}
    for path, module in comparison.modules.items():
        other = comparison.other_modules.get(comparison.matching["modules"].get(path, ""))
        sides = (("torch", module), ("MindSpore", other))
        found[path] = [
            (side, one.created)
            for side, one in sides
            if one is not None and one.created is not None and readable(one.created)
        ]
    return found


def _row(row: Row, mode: str, places: dict[str, list[tuple[str, Place]]]) -> dict[str, Any]:
    path = row.name.partition(",")[0]
    if row.stage != "layers":
        path = path.rpartition(".")[0]
    return {
        "key": f"{mode} {row.stage} {row.name}",
        "name": row.name,
        "ok": row.ok,
        "places": places.get(path, []) if row.stage in ("layers", "gradients") else [],
        "ratio": f"{row.judgement.ratio:.3g}" if isfinite(row.judgement.ratio) else "exact",
        "cells": [_cell(row, key) for _, key in COLUMNS],
        "problem": "" if _NOISE in row.judgement.problem else row.judgement.problem,
    }


def _cell(row: Row, key: str) -> str:
    if not key:
        return f"{row.judgement.floor:.3g}" if row.judgement.floor else "-"
    if row.judgement.measures is None:
        return "-"
    value = getattr(row.judgement.measures, key)
    if key == "max_index":
        return str(list(value)) if value else "-"
    if key == "size":
        return str(value)
    return format(float(value), ".8f" if key == "cosine" else ".3g")
