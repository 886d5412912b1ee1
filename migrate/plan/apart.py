"""What functions without a backward pass do with the gradients that another one computes.

def optimizer_step(self, optimizer):    # of a precision plugin, say
    optimizer.step()
"""

from __future__ import annotations

from collections.abc import Iterable

from migrate.plan.find import Calls
from migrate.plan.training_step import Plans


def note_apart(plans: Plans, calls_of: Iterable[Calls]) -> None:
    """Which calls of a file step with gradients at the parameters, and which backward() is a method
    of the program's own.
    """
    for calls in calls_of:
        plans.handled.update(calls.own_backwards)
        if plans.on_parameters and not calls.backwards:
            plans.accumulates = True
            plans.apart.update(one.call for one in calls.steps if not one.scaler)
