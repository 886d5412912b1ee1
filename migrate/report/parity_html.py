"""A parity result as one self-contained page: verdict, diagnosis, chart, tables."""

from __future__ import annotations

import os
from html import escape
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from migrate.errors import RequestError
from migrate.parity.compare import STAGES, Comparison, Row
from migrate.report import parity_chart

if TYPE_CHECKING:
    from migrate.parity.check import Report

_MOST_ROWS = 400
_STYLE = """
:root { color-scheme: light dark; --text: #1c1e21; --dim: #676d75; --line: #e3e5e8; --back: #fff;
  --good: #1a7f4b; --bad: #c4352c; --floor: #2a7fb8; --shade: #2a7fb822; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8ea; --dim: #9aa1a9; --line: #33383e;
  --back: #16181b; --good: #3fb374; --bad: #f0695f; --floor: #58a9dd; --shade: #58a9dd26; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 78rem; background: var(--back);
  color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
.good { color: var(--good); } .bad { color: var(--bad); } .dim { color: var(--dim); }
.diagnosis { border-left: 4px solid var(--bad); padding: .25rem 0 .25rem 1rem; margin: 1.25rem 0;
  font-size: 1.05rem; max-width: 60rem; }
.diagnosis dl, .facts { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem;
  margin: .5rem 0 0; font-size: .95rem; }
dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
code { font: .92em ui-monospace, Menlo, Consolas, monospace; }
svg { width: 100%; height: auto; margin-top: .5rem; }
svg .grid { stroke: var(--line); } svg .tick { fill: var(--dim); font: 12px system-ui, sans-serif; }
svg .floor { fill: none; stroke: var(--floor); stroke-width: 1.5; }
svg .allowed { fill: var(--shade); }
svg circle.good { fill: var(--good); } svg circle.bad { fill: var(--bad); }
svg .first { fill: var(--bad); font: 600 14px system-ui, sans-serif; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; color: var(--dim); white-space: nowrap; }
th, td { padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
td:last-child { min-width: 20rem; }
tr.bad td:first-child { color: var(--bad); font-weight: 600; }
summary { cursor: pointer; margin-top: .8rem; }
"""
_COLUMNS = (
    ("ratio to noise", None),
    ("relative Euclidean", "relative_euclidean"),
    ("max abs", "max_abs"),
    ("cosine", "cosine"),
    ("mean relative", "mean_relative"),
    ("accumulated relative", "accumulated_relative"),
    ("KL", "kl_divergence"),
    ("torch mean", "truth_mean"),
    ("MindSpore mean", "other_mean"),
    ("torch std", "truth_std"),
    ("MindSpore std", "other_std"),
)


def write(report: Report, path: Path) -> None:
    """Write the page beside its place and move it there whole."""
    pending = path.with_name(f".{path.name}.part")
    try:
        pending.write_text(render(report), encoding="utf-8")
        os.replace(pending, path)
    except OSError as error:
        raise RequestError(f"cannot be written ({error.strerror})", where=str(path)) from error


def render(report: Report) -> str:
    """The page as text."""
    verdict = {0: "Parity", 1: "Diverges", 2: "Could not run"}[report.exit_code]
    kind = "good" if report.exit_code == 0 else "bad"
    body = [f'<h1 class="{kind}">{verdict}</h1>', _facts(report), _diagnosis(report)]
    for mode, failure in report.failures.items():
        body.append(f"<h2>{escape(mode)} mode could not run</h2><pre>{escape(failure)}</pre>")
    watched = next((c for c in report.comparisons if c.layers), None)
    if watched is not None:
        culprit = report.diagnosis.path if report.diagnosis else ""
        body.append("<h2>Every layer along the network</h2>")
        body.append(parity_chart.draw(watched.layers, report.tolerance.factor, culprit))
    for comparison in report.comparisons:
        body.append(_mode(comparison))
    notes = dict.fromkeys(note for comparison in report.comparisons for note in comparison.notes)
    if notes:
        items = "".join(f"<li>{escape(note)}</li>" for note in notes)
        body.append(f'<h2>Notes</h2><ul class="dim">{items}</ul>')
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{verdict}: {escape(report.mindspore)}</title><style>{_STYLE}</style></head>\n"
        f"<body>{''.join(body)}</body></html>\n"
    )


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
    return f'<dl class="facts">{rows}</dl>'


def _diagnosis(report: Report) -> str:
    found = report.diagnosis
    if found is None:
        return ""
    facts = {}
    if found.torch:
        facts["torch"] = f"{found.torch}  {found.torch_place}"
    if found.mindspore:
        facts["MindSpore"] = f"{found.mindspore}  {found.mindspore_place}"
    rows = "".join(f"<dt>{k}</dt><dd><code>{escape(v)}</code></dd>" for k, v in facts.items())
    said = " ".join(filter(None, [found.sentence, *found.hints, found.row]))
    innocent = f" Innocent in isolation: {', '.join(found.innocent)}." if found.innocent else ""
    return f'<div class="diagnosis">{escape(said + innocent)}<dl>{rows}</dl></div>'


def _mode(comparison: Comparison) -> str:
    parts = [f"<h2>{escape(comparison.mode)} mode</h2>"]
    if comparison.error is not None:
        parts.append(f'<p class="bad">Stopped: {escape(comparison.error["what"])}</p>')
    for stage in STAGES:
        rows = [row for row in comparison.rows if row.stage == stage]
        if not rows:
            continue
        wrong = comparison.failed(stage)
        state = f'<span class="bad">{len(wrong)} of {len(rows)} differ</span>' if wrong else ""
        state = state or f'<span class="good">agrees</span> <span class="dim">({len(rows)})</span>'
        opened = " open" if wrong and stage == comparison.first_stage else ""
        table = _table(rows)
        parts.append(f"<details{opened}><summary>{stage}: {state}</summary>{table}</details>")
    return "".join(parts)


def _table(rows: list[Row]) -> str:
    heads = "".join(f"<th>{name}</th>" for name in ("tensor", *(c for c, _ in _COLUMNS), "what"))
    lines = []
    for row in rows[:_MOST_ROWS]:
        cells = "".join(f'<td class="number">{_cell(row, key)}</td>' for _, key in _COLUMNS)
        kind = "" if row.ok else ' class="bad"'
        problem = escape(row.judgement.problem)
        lines.append(f"<tr{kind}><td>{escape(row.name)}</td>{cells}<td>{problem}</td></tr>")
    more = f'<p class="dim">{len(rows) - _MOST_ROWS} more</p>' if len(rows) > _MOST_ROWS else ""
    body = "".join(lines)
    return f'<div class="scroll"><table><tr>{heads}</tr>{body}</table></div>{more}'


def _cell(row: Row, key: str | None) -> str:
    if key is None:
        return f"{row.judgement.ratio:.3g}" if isfinite(row.judgement.ratio) else "-"
    if row.judgement.measures is None:
        return "-"
    value = float(getattr(row.judgement.measures, key))
    digits = ".8f" if key == "cosine" else ".3g"
    return format(value, digits)
