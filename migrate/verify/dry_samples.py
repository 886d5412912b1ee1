"""What is put to the Ascend backend in dry run: few samples of each row, in many dtypes.

Kernels depend on the operator, the dtype and the form of the call, hardly on the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from migrate.verify import dry_layers, layers, operators, own, training
from migrate.verify.program import Trial
from migrate.verify.session import Note, at_the_edge, run_trials

# dtype -> samples of one row and variant; float32 decides a row's verdict.
_SAMPLES = {"float32": 3, "float16": 2, "bfloat16": 2, "int64": 2}
_DTYPES = ("float16", "bfloat16", "int64", "bool", "int32", "float64", "complex64")
_LOW = ("float16", "bfloat16")
# Compiling takes seconds, and Graph mode selects by the same table: once an operator.
_COMPILED = ("float32",)


def run_case(key: str, folder: Path, start: int, note: Note) -> None:
    """Note what the backend says of every sample of a case."""
    kind = key.partition(":")[0] + ":"
    if kind == operators.PREFIX:
        trials = operators.trials_of(key, _DTYPES, gradients=_LOW)
        run_trials(few(trials), folder, start, note)
    elif kind == own.PREFIX:
        trials = own.trials_of(key)
        run_trials(
            few(with_low_dtypes(trials), compiled=any(trial.graph for trial in trials)),
            folder,
            start,
            note,
        )
    elif kind in (layers.PREFIX, layers.OWN):
        dry_layers.run_layers(key, folder, start, note)
    else:
        assert kind in (training.OPTIMIZER, training.SCHEDULE)
        dry_layers.run_training(key, folder, start, note)


def few(trials: Iterable[Trial], *, compiled: bool = True) -> list[Trial]:
    """The most telling trials of each row, variant and dtype; not those that torch refuses."""
    groups: dict[tuple[str, str, str], list[Trial]] = {}
    for trial in trials:
        if trial.text and trial.variant != "error":
            groups.setdefault((trial.api, trial.variant, trial.dtype), []).append(trial)
    found = []
    known: set[str] = set()
    for (api, _, dtype), group in groups.items():
        chosen = _different(group)[: _SAMPLES.get(dtype, 1)]
        # `x.add(y)` and `x.add_(y)` are compiled to the operators of `torch.add(x, y)`.
        name = api.rpartition(".")[2].rstrip("_")
        for trial in chosen:
            trial.graph = compiled and dtype in _COMPILED and name not in known
            known |= {name} if trial.graph else set()
        found += chosen
    return found


def _different(group: list[Trial]) -> list[Trial]:
    """Inputs with elements and dimensions first, then one of each way to call."""
    forms: set[str] = set()
    new: list[Trial] = []
    known: list[Trial] = []
    for trial in sorted(group, key=lambda trial: bool(at_the_edge(trial.inputs))):
        form = "".join(c for c in trial.text if not c.isdigit())
        (known if form in forms or at_the_edge(trial.inputs) else new).append(trial)
        forms.add(form)
    return new + known


def with_low_dtypes(trials: list[Trial]) -> list[Trial]:
    """Our own samples are of float32: the same with half the bits."""
    import torch

    found = list(trials)
    for name in _LOW:
        dtype = getattr(torch, name)
        for trial in trials:
            if any(value.dtype == torch.float32 for value in trial.inputs):
                lower = [
                    value.detach().to(dtype).requires_grad_(value.requires_grad)
                    if value.dtype == torch.float32
                    else value
                    for value in trial.inputs
                ]
                found.append(replace(trial, inputs=lower, dtype=name, variant="dtype"))
    return found
