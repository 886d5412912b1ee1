"""Run one trial in both frameworks and say what agreed: forward, gradient, Graph mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from migrate.verify.agree import difference, flat, judged
from migrate.verify.bridge import to_mindspore, to_torch
from migrate.verify.program import Trial

Outcome = dict[str, str]  # stage -> "agrees", "disagrees: ...", "fails: ...", "refused: ..."
AGREES = "agrees"
# A training step calls its graph again and again; the kernel behind the gradient of ops.pad, for
# one, changes its own arguments at the first call and computes something else from the second on.
_CALLS = 3


class TorchFails(Exception):
    """The sample itself does not run: it says nothing about the row."""


def run_trial(
    trial: Trial,
    reference: Callable[..., Any],
    ported: Callable[..., Any],
    reach: Callable[[str, Outcome], None],
) -> Outcome:
    """All stages of one trial; a stage that torch has nothing for is left out.

    `reach` is told of each stage before it begins, since the process may not outlive it.
    """
    import torch

    expected, leaves = _torch_forward(trial, reference)
    arguments = [to_mindspore(value) for value in trial.inputs]
    outcome: Outcome = {}
    torch.manual_seed(0)
    try:
        raw = to_torch(ported(*arguments))
        outcome["forward"] = _verdict(trial, reference, expected, raw)
    except Exception as error:
        outcome["forward"] = failure(error)
        return outcome
    wanted = trial.gradient and not trial.random and outcome["forward"].startswith(AGREES)
    plan = _gradient_plan(trial, expected, raw, leaves) if wanted else None
    if plan is not None:
        reach("gradient", outcome)
        outcome["gradient"] = _gradient(plan, ported, arguments)
        if trial.doubtful and outcome["gradient"].startswith("disagrees"):
            del outcome["gradient"]
            plan = None
    if trial.graph:
        reach("graph", outcome)
        outcome["graph"] = _graph(trial, (reference, expected), plan, ported, arguments)
    return outcome


def _torch_forward(trial: Trial, reference: Callable[..., Any]) -> tuple[Any, list[Any]]:
    import torch

    leaves = [value.detach().clone() for value in trial.inputs]
    if trial.gradient:
        for leaf, value in zip(leaves, trial.inputs, strict=True):
            leaf.requires_grad_(bool(value.requires_grad))
    try:
        torch.manual_seed(1)
        # Some operators change their input in place, which a leaf would not allow.
        expected = reference(*(leaf.clone() if _changes(trial) else leaf for leaf in leaves))
        draws = _other_draws(trial, reference)
    except Exception as error:
        raise TorchFails(f"{type(error).__name__}: {error}") from None
    trial.random |= any(difference(_detached(expected), draw) for draw in draws)
    if trial.random:
        # Draws that differ in distribution among themselves can judge no other draw by it.
        trial.clustered = any(
            difference(_detached(expected), draw, values=False, slack=0.7) for draw in draws
        )
    return expected, leaves


def _other_draws(trial: Trial, reference: Callable[..., Any]) -> list[Any]:
    """The same call with other random numbers; a few, since pooling often hides one draw."""
    import torch

    draws = []
    for seed in range(2, 6):
        torch.manual_seed(seed)
        draws.append(_detached(reference(*(value.detach().clone() for value in trial.inputs))))
    return draws


def _emptied(value: Any) -> Any:
    """Shape and dtype alone."""
    import torch

    if isinstance(value, (dict, list, tuple)):
        return tuple(map(_emptied, flat(value)))
    return torch.zeros_like(value) if torch.is_tensor(value) else value


def _changes(trial: Trial) -> bool:
    return trial.api.endswith("_") and not trial.api.endswith("__")


def _verdict(trial: Trial, reference: Callable[..., Any], expected: Any, actual: Any) -> str:
    values = not trial.random
    plain = values and trial.process is None
    shown = _detached(expected)
    verdict = judged(_emptied(shown), _emptied(actual)) if trial.clustered else ""
    verdict = verdict or judged(shown, actual, values=plain)
    if verdict == AGREES and values and trial.process is not None:
        try:
            verdict = judged(_detached(trial.process(expected)), trial.process(actual))
        except Exception as error:  # the database's own post-processing does not take it
            verdict = f"disagrees: cannot be brought to a comparable form ({error})"
    if not verdict.startswith(AGREES) and trial.dtype == "float16":
        verdict = AGREES if _nearer_the_truth(trial, reference, actual) else verdict
    return verdict


def _nearer_the_truth(trial: Trial, reference: Callable[..., Any], actual: Any) -> bool:
    """torch's own float16 sums are rounded as they go: what float32 gives is as good an answer."""
    try:
        wide = [v.detach().float() if v.is_floating_point() else v for v in trial.inputs]
        truth = [_narrow(leaf) for leaf in flat(_detached(reference(*wide)))]
    except Exception:
        return False
    return not difference(truth, flat(actual))


def _narrow(value: Any) -> Any:
    import torch

    return value.half() if torch.is_tensor(value) and value.is_floating_point() else value


def _gradient_plan(trial: Trial, expected: Any, actual: Any, leaves: list[Any]) -> Any:
    """Torch's gradients, and the cotangents that MindSpore's raw outputs must be given.

    Where the database post-processes the outputs, the chain rule is split: torch differentiates
    the processing at MindSpore's own outputs, MindSpore the operator.
    """
    import torch

    places = [i for i, leaf in enumerate(leaves) if leaf.requires_grad]
    if not places:
        return None
    process = trial.process or (lambda value: value)
    try:
        everything = flat(process(expected))
        chosen = [place for place, o in enumerate(everything) if _differentiable(o)]
        outputs = [everything[place] for place in chosen]
        if not outputs:
            return None
        draw = torch.Generator().manual_seed(7)
        weights = [
            torch.randn(o.shape, generator=draw, dtype=torch.float32).to(o.dtype) for o in outputs
        ]
        wanted = torch.autograd.grad(
            outputs, [leaves[i] for i in places], weights, allow_unused=True
        )
    except (RuntimeError, NotImplementedError):
        return None  # torch itself has no gradient here, or it does not reach these inputs
    wanted = [
        torch.zeros_like(leaves[i]) if g is None else g for i, g in zip(places, wanted, strict=True)
    ]
    if any(not torch.isfinite(g).all() for g in wanted):
        return None
    given = _cotangents(actual, process, chosen, weights)
    return None if given is None else (places, wanted, given)


def _cotangents(
    actual: Any, process: Callable[[Any], Any], chosen: list[int], weights: list[Any]
) -> list[Any] | None:
    """What MindSpore's raw outputs are given: the gradient of the processing at them."""
    import torch

    raw = [
        o.requires_grad_(True) if torch.is_tensor(o) and o.is_floating_point() else o
        for o in flat(actual)
    ]
    processed = [o for place, o in enumerate(flat(process(_like(actual, raw)))) if place in chosen]
    if len(processed) != len(chosen) or not all(map(_differentiable, processed)):
        return None
    real = [o for o in raw if torch.is_tensor(o) and o.requires_grad]
    cotangents = torch.autograd.grad(processed, real, weights, allow_unused=True)
    given: list[Any] = []
    found = iter(cotangents)
    for leaf in raw:
        given.append(next(found) if torch.is_tensor(leaf) and leaf.requires_grad else None)
    return given


def _gradient(plan: Any, ported: Callable[..., Any], arguments: list[Any]) -> str:
    import mindspore

    places, wanted, cotangents = plan
    try:
        weights = [None if c is None else to_mindspore(c) for c in cotangents]

        def loss(*inputs: Any) -> Any:
            total = None
            for output, weight in zip(flat(ported(*inputs)), weights, strict=True):
                if weight is not None:
                    if output.dtype == mindspore.bfloat16:  # which the sum has no kernel for
                        output = output.astype(mindspore.float32)
                    part = (output * weight.astype(output.dtype)).sum()
                    total = part if total is None else total + part
            return total

        compute = mindspore.grad(loss, grad_position=tuple(places))
        found = compute(*arguments)
        return judged(tuple(wanted), to_torch(tuple(flat(found))), gradient=True)
    except Exception as error:
        return failure(error)


def _graph(trial: Trial, torch_side: Any, plan: Any, ported: Any, arguments: list[Any]) -> str:
    import mindspore

    try:
        compiled = mindspore.jit(ported)
        result = to_torch(compiled(*arguments))
    except Exception as error:
        return failure(error)
    verdict = _verdict(trial, torch_side[0], torch_side[1], result)
    if verdict.startswith(AGREES) and plan is not None:
        verdict = repeated(lambda: _gradient(plan, compiled, arguments))
    return verdict


def repeated(gradient: Callable[[], str]) -> str:
    """The verdict on a compiled gradient that is taken as often as a training step takes it."""
    for call in range(1, _CALLS + 1):
        verdict = gradient()
        if verdict != AGREES:
            which = "gradient" if call == 1 else f"gradient of call {call}"
            return verdict.replace(":", f": {which}:", 1)
    return AGREES


def _differentiable(value: Any) -> bool:
    import torch

    return torch.is_tensor(value) and value.requires_grad and not value.is_complex()


def _detached(value: Any) -> Any:
    import torch

    if torch.is_tensor(value):
        return value.detach()
    if isinstance(value, dict):
        return {key: _detached(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_detached(item) for item in value)
    return value


def _like(shape: Any, leaves: list[Any]) -> Any:
    """Leaves in the container form of another value."""
    if not isinstance(shape, (list, tuple, dict)):
        return leaves[0]
    return tuple(leaves)


def failure(error: BaseException) -> str:
    """The error in one line; MindSpore's own text has headings and rulers around it."""
    lines = [line.strip() for line in str(error).splitlines()]
    telling = [
        line for line in lines if line.strip("- ") and not line.startswith(("- ", "mindspore/"))
    ]
    text = telling[0] if telling else " ".join(lines[:1])
    return f"fails: {type(error).__name__}: {text}"[:240]
