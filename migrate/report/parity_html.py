"""A parity result as one self-contained page: verdict, diagnosis, charts, modules, tables."""

from __future__ import annotations

from html import escape
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from migrate.parity.judge import source_files
from migrate.parity.judge.compare import STAGES, Comparison, Row
from migrate.report import loss_chart, parity_chart, parity_tree
from migrate.report.output import write_file
from migrate.report.parity_chart import Point
from migrate.report.parity_style import SCRIPT, STYLE

if TYPE_CHECKING:
    from migrate.parity.check import Report

_MOST_ROWS = 2000
_NOISE = "times the noise floor away"
_COLUMNS = (
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
    write_file(path, render(report))


def render(report: Report) -> str:
    """The page as text."""
    verdict = {0: "Parity", 1: "Diverges", 2: "Could not run"}[report.exit_code]
    kind = "good" if report.exit_code == 0 else "bad"
    body = [f'<h1 class="{kind}">{verdict}</h1><p class="lead">{escape(_lead(report))}</p>']
    body += [_diagnosis(report), _overview(report), _facts(report)]
    for mode, failure in report.failures.items():
        body.append(f"<h2>{escape(mode)} mode could not run</h2><pre>{escape(failure)}</pre>")
    culprit = report.diagnosis.path if report.diagnosis else ""
    watched = next((c for c in report.comparisons if c.layers), None)
    for comparison in report.comparisons:
        if curves := loss_chart.draw(comparison):
            body.append(f"<h2>Loss, {escape(comparison.mode)} mode</h2>{curves}")
    body.append(_charts(report, watched, culprit))
    if watched is not None:
        body.append("<h2>Modules</h2>")
        body.append('<p class="dim">The worst output of each, in units of the noise floor.</p>')
        body.append(parity_tree.draw(watched, culprit))
    body.extend(_mode(comparison) for comparison in report.comparisons)
    notes = dict.fromkeys(note for comparison in report.comparisons for note in comparison.notes)
    if notes:
        items = "".join(f"<li>{escape(note)}</li>" for note in notes)
        body.append(f'<h2>Notes</h2><ul class="dim">{items}</ul>')
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{verdict}: {escape(report.mindspore)}</title><style>{STYLE}</style></head>\n"
        f"<body>{''.join(body)}<script>{SCRIPT}</script></body></html>\n"
    )


def _lead(report: Report) -> str:
    if report.exit_code == 0:
        return "The MindSpore model computes what the torch model computes."
    found = report.diagnosis
    if found is None:
        return "See below for what happened."
    where = found.path or "the model's own code"
    if found.kind in ("loss", "optimizer"):
        where = f"the {found.kind}"
    alone = ", confirmed by running it alone" if found.confirmed and found.kind == "layer" else ""
    word = "First at" if report.exit_code == 1 else "Stopped at"
    return f"{word} {where} (stage: {found.stage}){alone}."


def _diagnosis(report: Report) -> str:
    found = report.diagnosis
    if found is None:
        return ""
    parts = [f"<p>{escape(' '.join([found.sentence, *found.hints]))}</p>"]
    facts: list[tuple[str, str]] = []
    for name, layer, place in (
        ("torch", found.torch, found.torch_place),
        ("MindSpore", found.mindspore, found.mindspore_place),
    ):
        if layer or place:
            facts.append((name, f"<code>{escape(layer)}</code>"))
            line = _source_line(place)
            old = " class=old" if name == "MindSpore" and not found.as_ported and line else ""
            shown = f"<pre{old}>{escape(line)}</pre>" if line else ""
            facts.append(("", f'<span class="dim">{escape(place)}</span>{shown}'))
    if found.emitted and not found.as_ported:
        facts.append(("ms-migrate writes", f'<pre class="new">{escape(found.emitted)}</pre>'))
    if found.row:
        fault = " The line is as ms-migrate writes it, so the row is at fault: report it."
        facts.append(("table", escape(found.row + (fault if found.as_ported else ""))))
    if found.innocent:
        facts.append(("innocent in isolation", escape(", ".join(found.innocent))))
    rows = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in facts)
    return f'<div class="diagnosis">{"".join(parts)}<dl>{rows}</dl></div>'


def _source_line(place: str) -> str:
    """The text at file:line, if the file is here to be read."""
    name, _, number = place.rpartition(":")
    try:
        lines = source_files.read(name).splitlines()
        return lines[int(number) - 1].strip()
    except (OSError, ValueError, IndexError):
        return ""


def _overview(report: Report) -> str:
    """All stages of all modes at a glance."""
    used = [s for s in STAGES if any(r.stage == s for c in report.comparisons for r in c.rows)]
    if not used:
        return ""
    heads = "".join(f"<th>{escape(c.mode)}</th>" for c in report.comparisons)
    lines = []
    for stage in used:
        cells = "".join(f"<td>{_stage_cell(c, stage)}</td>" for c in report.comparisons)
        lines.append(f"<tr><td>{stage}</td>{cells}</tr>")
    stopped = "".join(
        f'<p class="bad">{escape(c.mode)} mode stopped in {escape(c.stopped_in or "the model")}: '
        f"{escape(c.error['what'])}</p>"
        for c in report.comparisons
        if c.error is not None
    )
    table = f"<table><thead><tr><th>stage</th>{heads}</tr></thead>{''.join(lines)}</table>"
    return f"{table}{stopped}"


def _stage_cell(comparison: Comparison, stage: str) -> str:
    rows = [row for row in comparison.rows if row.stage == stage]
    if not rows:
        return '<span class="dim">-</span>'
    wrong = comparison.failed(stage)
    if wrong:
        return f'<span class="bad">{len(wrong)} of {len(rows)} differ</span>'
    worst = max(row.judgement.ratio for row in rows)
    noise = f", worst {worst:.2g} &times; noise" if worst else ""
    return f'<span class="good">agrees</span> <span class="dim">{len(rows)}{noise}</span>'


def _facts(report: Report) -> str:
    plan = report.plan
    inputs = ", ".join(
        spec["file"] or f"{'x'.join(map(str, spec['shape']))} {spec['dtype']}"
        for spec in plan["inputs"]
    )
    judged = (
        f"at most {report.tolerance.factor:g} times the noise floor of {plan['noise_runs']} "
        f"{'float32' if plan['amp'] == 'O0' else 'float16'} runs"
    )
    if report.tolerance.fixed:
        judged = f"rtol {report.tolerance.rtol or 0:g}, atol {report.tolerance.atol or 0:g}"
    cost = ", ".join(
        f"{s.name} {s.seconds:.1f} s, {s.peak_bytes / 2**20:.0f} MiB" for s in report.sides
    )
    facts = {
        f"torch {report.versions.get('torch', '')}": report.torch,
        f"MindSpore {report.versions.get('mindspore', '')}": report.mindspore,
        "step": f"{inputs}; {'train' if plan['train'] else 'eval'}; loss {plan['loss']}; "
        f"optimizer {plan['optimizer']}; {plan['steps']} step(s); seed {plan['seed']}; amp "
        f"{plan['amp']}",
        "allowed": judged,
        "cost": f"{report.seconds:.1f} s ({cost})" if cost else f"{report.seconds:.1f} s",
    }
    rows = "".join(
        f"<dt>{escape(k)}</dt><dd><code>{escape(v)}</code></dd>" for k, v in facts.items()
    )
    return f"<dl>{rows}</dl>"


def _charts(report: Report, watched: Comparison | None, culprit: str) -> str:
    factor, fixed = report.tolerance.factor, report.tolerance.fixed
    parts = []
    if watched is not None:
        layers = [
            Point(f"{watched.mode} layers {layer.name}", layer.name, _part(layer.path), layer.worst)
            for layer in watched.layers
            if layer.path
        ]
        chart = parity_chart.draw(
            layers, factor, culprit, fixed=fixed, what="outputs of the layers"
        )
        parts.append(f"<h2>Every layer along the network</h2>{chart}")
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
        chart = parity_chart.draw(
            points, factor, first, fixed=fixed, what="gradients of the parameters"
        )
        if chart:
            parts.append(f"<h2>Every gradient, {escape(comparison.mode)} mode</h2>{chart}")
    return "".join(parts)


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


def _mode(comparison: Comparison) -> str:
    parts = [f"<h2>{escape(comparison.mode)} mode, every tensor</h2>"]
    for stage in STAGES:
        rows = [row for row in comparison.rows if row.stage == stage]
        if not rows:
            continue
        state = _stage_cell(comparison, stage)
        opened = " open" if stage == comparison.first_stage else ""
        table = _table(rows, f"{comparison.mode} {stage}")
        parts.append(f"<details{opened}><summary>{stage}: {state}</summary>{table}</details>")
    return "".join(parts)


def _table(rows: list[Row], key: str) -> str:
    names = ("tensor", "ratio to noise", *(name for name, _ in _COLUMNS), "what")
    heads = "".join(f"<th>{name}</th>" for name in names)
    lines = []
    for row in rows[:_MOST_ROWS]:
        cells = "".join(f'<td class="number">{_cell(row, name)}</td>' for _, name in _COLUMNS)
        kind = "" if row.ok else ' class="bad"'
        problem = "" if _NOISE in row.judgement.problem else escape(row.judgement.problem)
        lines.append(
            f'<tr{kind} data-key="{escape(f"{key} {row.name}")}"><td>{escape(row.name)}</td>'
            f'<td class="number">{_ratio(row)}</td>{cells}<td>{problem}</td></tr>'
        )
    more = f'<p class="dim">{len(rows) - _MOST_ROWS} more</p>' if len(rows) > _MOST_ROWS else ""
    search = ""
    if len(rows) > 10:
        search = (
            '<div class="filter"><input type="search" placeholder="name" aria-label="name">'
            '<label><input type="checkbox"> only what differs</label>'
            '<span class="dim">a click on a heading sorts</span></div>'
        )
    table = f'<table class="wide"><thead><tr>{heads}</tr></thead><tbody>{"".join(lines)}</tbody>'
    return f'{search}<div class="scroll">{table}</table></div>{more}'


def _ratio(row: Row) -> str:
    if isfinite(row.judgement.ratio):
        return f"{row.judgement.ratio:.3g}"
    return "exact"


def _cell(row: Row, key: str) -> str:
    if not key:
        return f"{row.judgement.floor:.3g}" if row.judgement.floor else "-"
    if row.judgement.measures is None:
        return "-"
    value = getattr(row.judgement.measures, key)
    if key == "max_index":
        return escape(str(list(value))) if value else "-"
    if key == "size":
        return str(value)
    return format(float(value), ".8f" if key == "cosine" else ".3g")
