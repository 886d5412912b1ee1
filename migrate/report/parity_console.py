"""A parity result on the terminal: stages, the tree of modules, one paragraph of diagnosis."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from migrate.parity.judge.compare import STAGES, Comparison
from migrate.printable import printable

if TYPE_CHECKING:
    from migrate.parity.check import Report

# Private characters in place of colours, until everything else is known to be text.
_PAINT, _BEGIN, _END = "\uf8f0", "\uf8f1", "\uf8f2"
_PAINTED = re.compile(f"{_PAINT}(\\d{{1,2}}){_BEGIN}")
_MOST_NAMES = 8
_RED, _GREEN, _YELLOW, _DIM, _BOLD = "31", "32", "33", "2", "1"


def render(report: Report, *, colour: bool | None = None) -> str:
    """The whole result as text."""
    use = sys.stdout.isatty() and "NO_COLOR" not in os.environ if colour is None else colour

    def paint(text: str, code: str) -> str:
        return f"{_PAINT}{code}{_BEGIN}{text}{_END}" if use else text

    lines = [*_heading(report), ""]
    for comparison in report.comparisons:
        lines += [*_stages(comparison, paint), ""]
    for mode, failure in report.failures.items():
        lines += [paint(f"{mode}: could not run", _RED), textwrap.indent(failure, "  "), ""]
    shown = next((c for c in report.comparisons if c.layers and not c.ok), None)
    if shown is not None:
        culprit = report.diagnosis.path if report.diagnosis else ""
        lines += [*_tree(shown, culprit, paint), ""]
    notes = dict.fromkeys(note for comparison in report.comparisons for note in comparison.notes)
    if notes:
        lines += [*(paint(f"note: {note}", _DIM) for note in notes), ""]
    if report.diagnosis is not None:
        lines += textwrap.wrap(
            report.diagnosis.text, 100, break_long_words=False, break_on_hyphens=False
        )
        lines.append("")
    lines.append(_verdict(report, paint))
    # What the models and their files say is escaped; only then come the escape sequences of ours.
    return _PAINTED.sub("\x1b[\\1m", printable("\n".join(lines))).replace(_END, "\x1b[0m")


def _heading(report: Report) -> list[str]:
    plan, versions = report.plan, report.versions
    inputs = ", ".join(
        spec["file"] or f"{'x'.join(map(str, spec['shape']))}:{spec['dtype']}"
        for spec in plan["inputs"]
    )
    side = "train" if plan["train"] else "eval"
    if report.tolerance.fixed:
        judged = f"rtol {report.tolerance.rtol or 0:g}, atol {report.tolerance.atol or 0:g}"
    else:
        judged = (
            f"{report.tolerance.factor:g} times the noise floor of {plan['noise_runs']} "
            f"{'float32' if plan['amp'] == 'O0' else 'float16'} runs"
        )
    return [
        f"{'torch ' + versions.get('torch', '?'):<18} {report.torch}",
        f"{'mindspore ' + versions.get('mindspore', '?'):<18} {report.mindspore}",
        f"input {inputs}; {side}; loss {plan['loss']}; optimizer {plan['optimizer']}; seed "
        f"{plan['seed']}; amp {plan['amp']}",
        f"allowed: {judged}",
    ]


def _stages(comparison: Comparison, paint: Callable[[str, str], str]) -> list[str]:
    lines = [paint(f"{comparison.mode} mode", _BOLD)]
    for stage in STAGES:
        rows = [row for row in comparison.rows if row.stage == stage]
        if not rows:
            continue
        wrong = comparison.failed(stage)
        worst = max(rows, key=lambda row: row.judgement.ratio)
        if wrong:
            first = wrong[0]
            word = paint("differs", _RED)
            lines.append(
                f"  {stage:<11}{word}  {len(wrong)} of {len(rows)}; first: {first.name} "
                f"{first.judgement.problem}"
            )
        else:
            noise = (
                f"; worst {worst.judgement.ratio:.2g} x noise ({worst.name})"
                if worst.judgement.ratio
                else ""
            )
            lines.append(f"  {stage:<11}{paint('agrees', _GREEN)}   {len(rows)}{noise}")
    for side, names in (
        ("torch", comparison.only_torch),
        ("MindSpore", comparison.only_mindspore),
    ):
        if names:
            shown = ", ".join(names[:_MOST_NAMES])
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            lines.append(f"  not compared, in {side} only: {shown}{more}")
    if comparison.error is not None:
        lines.append(
            f"  {paint('stopped', _RED)} in {comparison.stopped_in or 'the model'}: "
            f"{comparison.error['what']}"
        )
        if comparison.error["where"]:
            lines.append(f"  at {comparison.error['where']}")
    return lines


def _tree(comparison: Comparison, culprit: str, paint: Callable[[str, str], str]) -> list[str]:
    """Modules in order of definition, opened up only along the way to the culprit."""
    calls: dict[str, list[tuple[bool, bool, float]]] = {}
    for layer in comparison.layers:
        slopes_ok = all(slope.ok for slope in layer.output_slopes)
        seen = (layer.outputs_agree, slopes_ok, layer.worst.ratio)
        calls.setdefault(layer.path, []).append(seen)
    lines = [
        "modules (F: the output differs, B: its gradient differs; opened up towards the culprit)"
    ]
    for path, module in comparison.modules.items():
        if path not in calls or not _is_open(path.rpartition(".")[0], culprit):
            continue
        forward = all(f for f, _, _ in calls[path])
        backward = all(b for _, b, _ in calls[path])
        marks = paint(*_marks(forward, backward))
        worst = max(ratio for _, _, ratio in calls[path])
        indent = "  " * (path.count(".") + 1 if path else 0)
        name = path.rpartition(".")[2] or "(model)"
        here = paint("  <-- first", _YELLOW) if path == culprit and path else ""
        lines.append(f"  {marks} {indent}{name}  {module.type}  {worst:.3g} x noise{here}")
    return lines


def _is_open(parent: str, culprit: str) -> bool:
    return not parent or culprit == parent or culprit.startswith(f"{parent}.")


def _marks(forward: bool, backward: bool) -> tuple[str, str]:
    """What is shown of a module, and its colour."""
    if forward and backward:
        return "ok", _GREEN
    return f"{'.' if forward else 'F'}{'.' if backward else 'B'}", _RED


def _verdict(report: Report, paint: Callable[[str, str], str]) -> str:
    cost = ", ".join(
        f"{side.name} {side.seconds:.1f} s {side.peak_bytes / 2**20:.0f} MiB"
        for side in report.sides
    )
    seconds = f" ({report.seconds:.1f} s: {cost})" if cost else ""
    if report.exit_code == 0:
        return (
            paint("PARITY", _GREEN)
            + f": the MindSpore model computes what the torch model computes{seconds}"
        )
    if report.exit_code == 1:
        return paint("DIVERGES", _RED) + seconds
    return paint("COULD NOT RUN", _RED) + seconds
