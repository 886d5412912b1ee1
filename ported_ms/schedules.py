"""Learning rates over a run: a linear warm-up, then one of five ways down.

Every schedule is a small callable object from the step to a factor of the base learning rate.
LambdaLR keeps the attributes of callable objects in its state dict (those of plain functions it
cannot), so a resumed run goes on with the schedule it was started with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mindspore.experimental import optim
import ms_migrate_helpers as helpers


class Warmup:
    """Rise from near zero to the base rate over `warmup_steps`, then follow `decay`."""

    def __init__(self, total_steps: int, warmup_steps: int = 0) -> None:
        if not 0 <= warmup_steps < total_steps:
            raise ValueError(f"{warmup_steps} warm-up steps do not fit into {total_steps} steps")
        self.total_steps = total_steps
        self.warmup_steps = warmup_steps

    def __call__(self, step: int) -> float:
        if step < self.warmup_steps:
            # The first step already moves: a rate of exactly zero would waste it.
            return (step + 1) / self.warmup_steps
        return self.decay(self.progress(step))

    def progress(self, step: int) -> float:
        """The share of the steps after the warm-up that is behind us, from 0 to 1."""
        done = (step - self.warmup_steps) / (self.total_steps - self.warmup_steps)
        return min(max(done, 0.0), 1.0)

    def decay(self, progress: float) -> float:
        raise NotImplementedError


class WarmupCosine(Warmup):
    """Half a cosine wave from the base rate down to `end_factor` of it."""

    def __init__(self, total_steps: int, warmup_steps: int = 0, end_factor: float = 0.0) -> None:
        super().__init__(total_steps, warmup_steps)
        self.end_factor = end_factor

    def decay(self, progress: float) -> float:
        wave = 0.5 * (1.0 + math.cos(math.pi * progress))
        return self.end_factor + (1.0 - self.end_factor) * wave


class WarmupPolynomial(Warmup):
    """(1 - progress) to the given power: a straight line for 1, flatter at the end above that."""

    def __init__(self, total_steps: int, warmup_steps: int = 0, power: float = 1.0) -> None:
        super().__init__(total_steps, warmup_steps)
        self.power = power

    def decay(self, progress: float) -> float:
        return (1.0 - progress) ** self.power


class WarmupSquare(WarmupPolynomial):
    """The quadratic way down that large-batch ResNet recipes prefer."""

    def __init__(self, total_steps: int, warmup_steps: int = 0) -> None:
        super().__init__(total_steps, warmup_steps, power=2.0)


class WarmupExponential(Warmup):
    """The same ratio from each step to the next, so that the last one has `end_factor`."""

    def __init__(self, total_steps: int, warmup_steps: int = 0, end_factor: float = 1e-3) -> None:
        super().__init__(total_steps, warmup_steps)
        self.end_factor = end_factor

    def decay(self, progress: float) -> float:
        return self.end_factor**progress


class WarmupStep(Warmup):
    """Multiply by `gamma` at each milestone, given in steps from the start of the run."""

    def __init__(
        self,
        total_steps: int,
        warmup_steps: int = 0,
        milestones: Sequence[int] | None = None,
        gamma: float = 0.1,
    ) -> None:
        super().__init__(total_steps, warmup_steps)
        if milestones is None:
            # Epochs 30, 60 and 80 of the classic 90.
            milestones = [total_steps // 3, 2 * total_steps // 3, 8 * total_steps // 9]
        self.milestones = sorted(milestones)
        self.gamma = gamma

    def __call__(self, step: int) -> float:
        if step < self.warmup_steps:
            return super().__call__(step)
        passed = sum(step >= milestone for milestone in self.milestones)
        return self.gamma**passed


SCHEDULES = {
    "cosine": WarmupCosine,
    "polynomial": WarmupPolynomial,
    "square": WarmupSquare,
    "exponential": WarmupExponential,
    "step": WarmupStep,
}


def build_scheduler(
    optimizer: optim.Optimizer, name: str, total_steps: int, warmup_steps: int = 0
) -> helpers.LambdaLR:
    """A scheduler to be stepped after every optimizer step, not after every epoch."""
    if name not in SCHEDULES:
        raise ValueError(f"unknown schedule {name!r}; choose from {', '.join(SCHEDULES)}")
    return helpers.LambdaLR(optimizer, SCHEDULES[name](total_steps, warmup_steps))
