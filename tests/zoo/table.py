"""Write the sweep's results as a page."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from catalog import Case
from check_one import agrees

_HEAD = """\
# The zoo: torchvision's models, ported and compared

Every builder below was ported from the installed torchvision package with no hand edit, given
torch's weights, and run for one training step beside torch: outputs, loss, every parameter's
gradient, in PyNative and in Graph mode. A number is the worst error against torch in float64, as a
multiple of torch's own float32 noise ({noise} runs: the fewer, the stricter); up to {factor:g}
counts as agreement.

{facts}

Command: `{command}`

{summary}
"""


_PLENTY = 10  # GB of memory: what needs more is said


def write_page(
    path: Path, wanted: list[Case], results: dict[str, Any], command: str, noise_runs: int
) -> None:
    from migrate.parity.judge.tolerance import FACTOR

    facts = ", ".join(
        [
            _span(row["date"] for row in results.values()) or datetime.date.today().isoformat(),
            f"Python {platform.python_version()}",
            *(f"{name} {version(name)}" for name in ("torch", "torchvision", "mindspore")),
            f"{platform.system()} {platform.machine()}, CPU",
        ]
    )
    parts = [
        _HEAD.format(
            noise=_span(row["noise_runs"] for row in results.values()) or noise_runs,
            factor=FACTOR,
            facts=facts,
            command=command,
            summary=_summary(wanted, results),
        )
    ]
    for kind in dict.fromkeys(case.kind for case in wanted):
        parts += [f"## {kind.capitalize()}", ""]
        parts += _table([case for case in wanted if case.kind == kind], results)
        parts.append("")
    pending = path.with_name(f".{path.name}.part")
    pending.write_text("\n".join(parts), encoding="utf-8")
    pending.replace(path)


def _summary(wanted: list[Case], results: dict[str, Any]) -> str:
    lines = []
    for kind in dict.fromkeys(case.kind for case in wanted):
        rows = [results.get(case.name) for case in wanted if case.kind == kind]
        run = [row for row in rows if row]
        both = sum(agrees(row) for row in run)
        modes = ", ".join(
            f"{sum(bool(row['modes'].get(mode, {}).get('agrees')) for row in run)} in {word}"
            for mode, word in (("pynative", "PyNative"), ("graph", "Graph mode"))
        )
        left = len(rows) - len(run)
        missing = f"; {left} of {len(rows)} builders not run yet" if left else ""
        lines.append(f"- {kind}: {both} of {len(run)} run agree in both modes ({modes}){missing}")
    return "\n".join(lines)


def _table(rows: list[Case], results: dict[str, Any]) -> list[str]:
    lines = [
        "| builder | input | forward | loss | gradients | graph | seconds | run on | cause |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for case in rows:
        row = results.get(case.name)
        if row is None:
            why = f": needs about {case.memory} GB of memory" if case.memory > _PLENTY else ""
            lines.append(f"| {case.name} | {_by(case.input)} | | | | | | | not run yet{why} |")
            continue
        first = row["modes"].get("pynative", {})
        cells = [_stage(first, stage) for stage in ("outputs", "loss", "gradients")]
        graph = row["modes"].get("graph", {})
        cells.append(_graph(graph))
        lines.append(
            f"| {case.name} | {_by(row['input'])} | {' | '.join(cells)} | "
            f"{row['seconds']:.0f} | {row['date']} | {row['cause']} |"
        )
    return lines


def _span(values: Iterable[int | str]) -> str:
    """The smallest and the largest, once if they are the same."""
    found = sorted(set(values))
    return " to ".join(str(value) for value in dict.fromkeys((*found[:1], *found[-1:])))


def _by(shape: str) -> str:
    return shape.replace(",", "x")


def _stage(mode: dict[str, Any], stage: str) -> str:
    found = mode.get("stages", {}).get(stage)
    if not found or not found["tensors"]:
        return "failed"
    number = "inf" if found["worst"] is None else f"{found['worst']:g}"
    return number if found["agrees"] else f"**{number}** ({found['failed']} of {found['tensors']})"


def _graph(mode: dict[str, Any]) -> str:
    stages = mode.get("stages", {})
    found = [stages[s]["worst"] for s in ("outputs", "loss", "gradients") if s in stages]
    if not found:
        return "failed"
    number = "inf" if None in found else f"{max(found):g}"
    return number if mode["agrees"] else f"**{number}**"
