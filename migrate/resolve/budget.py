"""How much interpretation a file may take, in statements: a slow machine gives the same answer."""

from __future__ import annotations

from migrate.findings import make_finding
from migrate.project import ReadProblem, SourceFile

# A function is looked at a few times, and those that it calls in other files once: torchvision's
# models take 3 steps a line at most.
STEPS_AT_LEAST = 200_000
STEPS_A_LINE = 100


class BudgetSpent(ReadProblem):
    """What is not interpreted might use torch: the file is left as it is, and named."""

    def __init__(self, source: SourceFile) -> None:
        reason = "takes too many steps to interpret; the file was left as it is"
        step = "split the file, or leave generated code out"
        super().__init__(make_finding("MS212", source.path, reason, step))


def steps_for(lines: int) -> int:
    return max(STEPS_AT_LEAST, STEPS_A_LINE * lines)
