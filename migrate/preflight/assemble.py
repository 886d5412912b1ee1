"""Put a run's log, its graphs and its ending together: kernels and findings by source line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from migrate.preflight import graph_ir, messages
from migrate.preflight.log_reader import Log
from migrate.preflight.result import SLOW, Finding, Kernel, Kind, Place, Problem, Run

_SLOW_KINDS = {Kind.AI_CPU: Problem.AI_CPU, Kind.HOST: Problem.HOST}
_SLOW_MESSAGES = {
    Problem.AI_CPU: "a custom AI CPU kernel, not the AI Core: slow",
    Problem.HOST: "no device kernel: data goes to the host's CPU and back",
}

_READ = (
    "builds the model from numbers that a tensor holds, and cannot be built on the CPU: a dry run "
    "computes none, so what was checked may be another model; compute them with numpy or Python"
)

_NOTHING = (
    "it ended without starting a kernel on the device: nothing was checked; name a model of the "
    "file (FILE.py:callable), or give the program what makes it train, after --"
)


def assemble(
    mode: str,
    log: Log,
    graphs: Path,
    ending: dict[str, Any] | None,
    is_user: Callable[[str], bool],
) -> Run:
    """The run in one mode; `ending` is what the child wrote, None if it died."""
    run = Run(mode)
    run.kernels = log.eager_kernels() + _compiled_kernels(log, graphs, is_user)
    run.findings = _slow_findings(run.kernels)
    if ending is None:
        run.complete = False
        return run
    run.notes = list(ending["notes"])
    run.peak_bytes = int(ending["peak_bytes"])
    run.findings[:0] = [_not_compiled(step) for step in ending["not_compiled"]]
    if ending["read"]:
        places = [Place(file, line) for file, line in ending["read"]]
        run.findings.insert(0, Finding(Problem.UNDECIDED, "", _READ, places))
    if ending["error"] is None and not run.kernels:
        run.findings.insert(0, Finding(Problem.UNDECIDED, "", _NOTHING))
    if ending["error"] is not None:
        run.complete = False
        run.findings.insert(0, _stopped(ending, log, is_user))
    return run


def _compiled_kernels(log: Log, graphs: Path, is_user: Callable[[str], bool]) -> Counter[Kernel]:
    """Kernels of compiled graphs with their lines; those that no graph shows are counted without
    one.
    """
    found: Counter[Kernel] = Counter()
    left = log.compiled + log.back_off
    for node in graph_ir.nodes(graphs):
        if left[node.operator] > 0:
            left[node.operator] -= 1
            kind = log.kind_of(node.operator)
            found[Kernel(node.operator, kind, node.place(is_user), node.gradient)] += 1
    for name, count in left.items():
        if count > 0:
            found[Kernel(name, log.kind_of(name))] += count
    return found


def _slow_findings(kernels: Counter[Kernel]) -> list[Finding]:
    """One finding for each slow operator, forward and gradient apart."""
    found: dict[tuple[Problem, str, bool], Finding] = {}
    for kernel, count in kernels.items():
        problem = _SLOW_KINDS.get(kernel.kind)
        if problem is None:
            continue
        key = (problem, kernel.name, kernel.gradient)
        if key not in found:
            found[key] = Finding(
                problem, kernel.name, _SLOW_MESSAGES[problem], gradient=kernel.gradient, count=0
            )
        finding = found[key]
        finding.count += count
        if kernel.place is not None and kernel.place not in finding.places:
            finding.places.append(kernel.place)
    order = list(SLOW)
    for finding in found.values():
        finding.places.sort()
    return sorted(found.values(), key=lambda f: (order.index(f.problem), f.operator, f.gradient))


def _stopped(ending: dict[str, Any], log: Log, is_user: Callable[[str], bool]) -> Finding:
    """The error that ended the run, at the user's innermost line."""
    error = ending["error"]
    meaning = messages.meaning(error["type"], error["text"])
    traced = [Place(file, line) for file, line in error["places"] if is_user(file)]
    compiled = [place for place in messages.places_in(error["text"]) if is_user(place.file)]
    # An operator that fails on the device is noticed later: by the traceback, at another line.
    called = log.last_calls.get(meaning.operator.lower())
    known = compiled or ([called] if called is not None else traced)
    place = known[-1] if known else log.last_place
    message = meaning.message
    if error["type"] == "SystemExit" and log.said:
        message = " / ".join([message, *log.said])
    return Finding(meaning.problem, meaning.operator, message, [place] if place is not None else [])


def _not_compiled(step: dict[str, Any]) -> Finding:
    """A step that the program wanted compiled and had to run eagerly."""
    meaning = messages.meaning("RuntimeError", step["text"])
    problem = Problem.REFUSED if meaning.problem is Problem.FAILED else meaning.problem
    file, line = step["place"]
    return Finding(
        problem,
        meaning.operator,
        f"the training step is not compiled, and ran in PyNative mode: {step['text']}",
        [Place(file, line)] if file else [],
    )
