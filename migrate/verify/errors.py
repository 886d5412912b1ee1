"""Calls that torch refuses (error_inputs): the port refuses them too, or is on record for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from migrate.verify.bridge import to_mindspore, to_torch
from migrate.verify.execute import TorchFails, failure
from migrate.verify.program import Trial, Unspellable, call_of

VARIANT = "error"
STAGE = "error"
RAISES = "raises"
_MOST = 12


def error_trials(op: Any) -> Iterator[Trial]:
    """The database's calls that must raise, of a function that can be called by its name."""
    if op.error_inputs_func is None:
        return
    try:
        samples = list(op.error_inputs_func(op, "cpu"))
    except Exception:  # a database entry that does not run here has nothing to say
        return
    for sample in samples[:_MOST]:
        call = sample.sample_input
        try:
            text, inputs = call_of(f"torch.{op.name}", (call.input, *call.args), call.kwargs)
        except Unspellable:
            continue
        yield Trial(f"torch.{op.name}", text, inputs, variant=VARIANT)


def run_error(
    trial: Trial, reference: Callable[..., Any], ported: Callable[..., Any]
) -> dict[str, str]:
    """`raises: ...`, or `accepts: ...` where MindSpore computes something."""
    try:
        expected = reference(*(value.detach().clone() for value in trial.inputs))
    except Exception as error:
        refusal = f"{type(error).__name__}: {str(error).strip().splitlines()[:1]}"
    else:
        raise TorchFails(f"torch accepts it and gives {type(expected).__name__}")
    try:
        arguments = [to_mindspore(value) for value in trial.inputs]
    except Exception as error:
        raise TorchFails(f"its inputs cannot be carried over: {error}") from None
    try:
        to_torch(ported(*arguments))
    except Exception as error:
        return {STAGE: failure(error).replace("fails", RAISES, 1)}
    return {STAGE: f"accepts: torch raises {refusal}"}
