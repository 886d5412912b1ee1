"""Optimizers of torch's database (optim_db) over ten steps, and every schedule over thirty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from migrate.verify.agree import difference
from migrate.verify.bridge import to_mindspore, to_torch
from migrate.verify.execute import AGREES, Outcome, failure
from migrate.verify.program import Unspellable, Writer

OPTIMIZER = "optimizer:"
SCHEDULE = "schedule:"
_STEPS = 10
_EPOCHS = 30
Shapes = tuple[tuple[int, ...], ...]
_SHAPES: Shapes = ((3, 4), (4,))
_MATRICES: Shapes = ((3, 4), (6, 2))  # for Muon, which refuses vectors
_HEAD = "import torch\nfrom torch.optim import lr_scheduler\n\n\n"

# Each is an expression over `optimizer`, an SGD with momentum and lr=0.1.
SCHEDULES: dict[str, tuple[str, ...]] = {
    "StepLR": ("optimizer, 7", "optimizer, step_size=5, gamma=0.5"),
    "MultiStepLR": ("optimizer, [5, 12, 20]", "optimizer, milestones=[3, 3, 9], gamma=0.3"),
    "ExponentialLR": ("optimizer, 0.9", "optimizer, gamma=0.97"),
    "ConstantLR": ("optimizer", "optimizer, factor=0.2, total_iters=8"),
    "LinearLR": ("optimizer", "optimizer, start_factor=0.1, end_factor=0.8, total_iters=12"),
    "PolynomialLR": ("optimizer", "optimizer, total_iters=20, power=2.0"),
    "CosineAnnealingLR": ("optimizer, 10", "optimizer, T_max=25, eta_min=0.01"),
    "CosineAnnealingWarmRestarts": ("optimizer, 6", "optimizer, T_0=4, T_mult=2, eta_min=0.001"),
    "CyclicLR": (
        "optimizer, 0.01, 0.1, step_size_up=4",
        "optimizer, 0.01, 0.1, 4, 3, mode='triangular2', cycle_momentum=False",
        "optimizer, 0.01, 0.1, 5, mode='exp_range', gamma=0.98, cycle_momentum=False",
    ),
    "OneCycleLR": (
        "optimizer, 0.2, total_steps=31",
        "optimizer, max_lr=0.2, epochs=4, steps_per_epoch=8, anneal_strategy='linear'",
    ),
    "LambdaLR": ("optimizer, lambda epoch: 0.95**epoch",),
    "MultiplicativeLR": ("optimizer, lambda epoch: 0.95",),
    "ReduceLROnPlateau": (
        "optimizer, patience=2",
        "optimizer, mode='max', factor=0.5, patience=1, cooldown=2, min_lr=0.001",
    ),
    "SequentialLR": (
        "optimizer, [lr_scheduler.ConstantLR(optimizer, 0.1, 3), "
        "lr_scheduler.ExponentialLR(optimizer, 0.9)], milestones=[5]",
    ),
    "ChainedScheduler": (
        "[lr_scheduler.ConstantLR(optimizer, 0.1, 3), lr_scheduler.ExponentialLR(optimizer, 0.9)]",
    ),
}


def case_names() -> dict[str, list[str]]:
    from torch.testing._internal.common_optimizers import optim_db

    optimizers = {
        f"{OPTIMIZER}{info.optim_cls.__name__}": [f"torch.optim.{info.optim_cls.__name__}"]
        for info in optim_db
    }
    schedules = {f"{SCHEDULE}{name}": [f"torch.optim.lr_scheduler.{name}"] for name in SCHEDULES}
    return {**optimizers, **schedules}


def run_case(key: str, folder: Path, start: int, note: Any) -> None:
    """Note every configuration of one optimizer or schedule."""
    from migrate.verify.session import ported_programs

    schedule = key.startswith(SCHEDULE)
    api, calls, text = program(key)
    both = ported_programs(text, folder)
    note({"trials": len(calls)})
    for place, body in enumerate(calls):
        if place < start:
            continue
        record = {"place": place, "api": api, "variant": "function", "dtype": "float32"}
        note({**record, "begins": True})
        outcome = both.refusal(f"sample_{place}")
        if outcome is None:
            ours = getattr(both.ours, f"sample_{place}")
            theirs = getattr(both.theirs, f"sample_{place}")
            outcome = (
                _schedule(theirs, ours) if schedule else _optimizer(theirs, ours, shapes_of(key))
            )
        if any(not text.startswith("agrees") for text in outcome.values()):
            record["call"] = body.strip().splitlines()[-1 if not schedule else 1].strip()
        note({**record, **outcome})


def program(key: str) -> tuple[str, list[str], str]:
    """The row on trial, the body of every sample, and the program that defines them."""
    kind, _, name = key.partition(":")
    schedule = f"{kind}:" == SCHEDULE
    calls = _schedules(name) if schedule else _optimizers(name)
    text = _HEAD + "\n\n".join(
        f"def sample_{place}(params: list[torch.nn.Parameter]):\n{body}"
        for place, body in enumerate(calls)
    )
    return f"torch.optim.{'lr_scheduler.' if schedule else ''}{name}", calls, text


def shapes_of(key: str) -> Shapes:
    """Of the parameters that a case's optimizer is given."""
    return _MATRICES if key == f"{OPTIMIZER}Muon" else _SHAPES


def _optimizers(name: str) -> list[str]:
    from torch.testing._internal.common_optimizers import optim_db

    info = next(info for info in optim_db if info.optim_cls.__name__ == name)
    calls = []
    for sample in info.optim_inputs_func("cpu"):
        writer = Writer()
        try:
            given = "".join(f", {word}" for word in writer.arguments((), sample.kwargs))
        except Unspellable:
            continue
        if not writer.inputs:  # a learning rate held in a tensor serves torch's compiler only
            calls.append(f"    return torch.optim.{name}(params{given})\n")
    return calls


def _schedules(name: str) -> list[str]:
    return [
        "    optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.9)\n"
        f"    schedule = lr_scheduler.{name}({arguments})\n"
        "    return optimizer, schedule\n"
        for arguments in SCHEDULES[name]
    ]


def parameters(shapes: Shapes = _SHAPES) -> tuple[list[Any], list[Any]]:
    """Equal ones of torch and of MindSpore."""
    import mindspore
    import torch

    torch.manual_seed(3)
    theirs = [torch.nn.Parameter(torch.randn(shape)) for shape in shapes]
    ours = [
        mindspore.Parameter(to_mindspore(parameter), name=f"p{place}")
        for place, parameter in enumerate(theirs)
    ]
    return theirs, ours


def _optimizer(make_theirs: Any, make_ours: Any, shapes: Shapes) -> Outcome:
    outcome = {"forward": _steps(make_theirs, make_ours, shapes, compiled=False)}
    if outcome["forward"] == AGREES:
        outcome["graph"] = _steps(make_theirs, make_ours, shapes, compiled=True)
    return outcome


def _steps(make_theirs: Any, make_ours: Any, shapes: Shapes, *, compiled: bool) -> str:
    import mindspore
    import torch

    theirs, ours = parameters(shapes)
    reference = make_theirs(theirs)
    try:
        optimizer = make_ours(ours)

        def update(*gradients: Any) -> Any:
            return optimizer(gradients)

        step = mindspore.jit(update) if compiled else update
    except Exception as error:
        return failure(error)
    for number in range(_STEPS):
        gradients = [torch.randn(shape) for shape in shapes]
        for parameter, gradient in zip(theirs, gradients, strict=True):
            parameter.grad = gradient
        reference.step(lambda: torch.tensor(0.0)) if _asks(reference) else reference.step()
        try:
            step(*map(to_mindspore, gradients))
            found = [to_torch(parameter) for parameter in ours]
        except Exception as error:
            return failure(error)
        reason = difference([p.detach() for p in theirs], found)
        if reason:
            return f"disagrees: step {number + 1}: {reason}"
    return AGREES


def _asks(optimizer: Any) -> bool:
    """LBFGS evaluates the loss by itself."""
    return type(optimizer).__name__ == "LBFGS"


def _schedule(make_theirs: Any, make_ours: Any) -> Outcome:
    theirs, ours = parameters()
    reference, plan = make_theirs(theirs)
    try:
        optimizer, schedule = make_ours(ours)
    except Exception as error:
        return {"forward": failure(error)}
    plateau = type(plan).__name__ == "ReduceLROnPlateau"
    for epoch in range(_EPOCHS):
        expected = float(reference.param_groups[0]["lr"])
        try:
            actual = float(optimizer.param_groups[0]["lr"])
        except Exception as error:
            return {"forward": failure(error)}
        if abs(expected - actual) > 1e-6 + 1e-5 * abs(expected):
            return {"forward": f"disagrees: epoch {epoch}: {actual:.6g}, torch {expected:.6g}"}
        measure = (1.0 if epoch < 4 else 0.5 + 0.01 * (epoch % 3),) if plateau else ()
        for parameter in theirs:
            parameter.grad = None
        reference.step()
        plan.step(*measure)
        try:
            schedule.step(*measure)
        except Exception as error:
            return {"forward": failure(error)}
    return {"forward": AGREES}
