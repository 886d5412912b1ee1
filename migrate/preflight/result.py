"""What a dry run found, as values: kernels by kind, findings by source line, the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """Where an operator runs."""

    ACLNN = "aclnn"
    ACLOP = "aclop"
    AI_CPU = "AI CPU"
    HOST = "host CPU"
    COLLECTIVE = "collective"
    RUNTIME = "runtime"
    OTHER = "other"


class Problem(StrEnum):
    """What is wrong with an operator, worst first."""

    NO_KERNEL = "no kernel"
    DTYPE = "dtype refused"
    REFUSED = "refused"
    FAILED = "program failed"
    UNDECIDED = "undecided"
    HOST = "runs on the host CPU"
    AI_CPU = "runs on the AI CPU"


REFUSALS = (Problem.NO_KERNEL, Problem.DTYPE, Problem.REFUSED)
SLOW = (Problem.HOST, Problem.AI_CPU)


@dataclass(frozen=True, order=True)
class Place:
    """A line of a source file."""

    file: str
    line: int


@dataclass(frozen=True)
class Kernel:
    """One kind of kernel call at one place."""

    name: str
    kind: Kind
    place: Place | None = None
    gradient: bool = False


@dataclass
class Line:
    """The kernels that one source line starts."""

    place: Place
    forward: Counter[Kind] = field(default_factory=Counter)
    gradient: Counter[Kind] = field(default_factory=Counter)


def counted(kinds: Mapping[Kind, int]) -> str:
    """`3 aclnn, 1 AI CPU`."""
    return ", ".join(f"{kinds[kind]} {kind}" for kind in Kind if kinds.get(kind))


@dataclass
class Finding:
    """Something to act on, with every line that it comes from."""

    problem: Problem
    operator: str
    message: str
    places: list[Place] = field(default_factory=list)
    gradient: bool = False
    count: int = 1


@dataclass
class Run:
    """The dry run in one mode."""

    mode: str
    kernels: Counter[Kernel] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    peak_bytes: int = 0
    seconds: float = 0.0
    # False if it ended early: what follows the last finding was not checked.
    complete: bool = True

    @property
    def by_kind(self) -> dict[Kind, int]:
        counted: Counter[Kind] = Counter()
        for kernel, count in self.kernels.items():
            counted[kernel.kind] += count
        return {kind: counted[kind] for kind in Kind if counted[kind]}

    @property
    def by_line(self) -> list[Line]:
        """Kernels of each source line, gradients at the line of their forward operator."""
        found: dict[Place, Line] = {}
        for kernel, count in self.kernels.items():
            if kernel.place is not None:
                line = found.setdefault(kernel.place, Line(kernel.place))
                (line.gradient if kernel.gradient else line.forward)[kernel.kind] += count
        return [found[place] for place in sorted(found)]

    @property
    def verdict(self) -> str:
        problems = {finding.problem for finding in self.findings}
        if problems & set(REFUSALS):
            return "refused"
        if Problem.FAILED in problems:
            return "program failed"
        if Problem.UNDECIDED in problems:
            return "undecided"
        if problems & set(SLOW):
            return "accepted, with slow kernels"
        return "accepted"


@dataclass
class Report:
    """Everything that the command shows."""

    subject: str
    version: str
    soc: str
    runs: list[Run]
    # ported place -> original place
    originals: dict[Place, Place] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        return int(any(run.verdict != "accepted" for run in self.runs))


NOT_CHECKED = (
    "Accepted means: MindSpore's Ascend backend took the program up to the device. Not checked:",
    "CANN itself: it may still lack a kernel for a shape, a dtype or a chip",
    "dtypes of aclnn kernels: MindSpore leaves them to CANN",
    "values: nothing is computed, so code that branches on a tensor's value was not followed",
    "speed, and jit levels other than O0",
    "precision: float32 convolutions on the device are HF32 by default: allow for it in parity, "
    "or set op_precision.conv_allow_hf32(False)",
)
