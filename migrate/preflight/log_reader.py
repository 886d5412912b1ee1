"""Read MindSpore's log of a dry run: which kernels ran, on which device, from which line.

Eager operators are announced one by one, after the marker of the line that called them. Gradients
run later, without a line of their own: the log names the forward operator (`Conv2D-0`, the first
one of the differentiated function), whose line is known. Kernels of compiled graphs are announced
when the graph is built; their lines are in the graph that is saved then (see graph_ir).
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from migrate.preflight.child.line_markers import BEGIN, MARK
from migrate.preflight.result import Kernel, Kind, Place

_AI_CPU = "[ms-migrate] ai_cpu "
_KERNEL = re.compile(r"kernel opname:(?P<name>\w+), kernel type:(?P<type>\w+)")
_BACK_OFF = re.compile(r"Try to use backoff CPU kernel, node:(?:\S*/)?(?P<name>\w+?)-op\d+")
_EAGER = re.compile(r"\] RunOp name (?P<name>\w+) device (?P<device>\w+) ")
_ACLNN = re.compile(r"\] In (?P<name>\w+) impl function")
_GRADIENT = re.compile(r"Begin calculate op: (?P<name>.+)-(?P<index>\d+) gradients!")
_FORWARD = re.compile(r"Begin KPynativeOp, prim: (?P<name>\w+)")

_TYPES = {
    "acl_kernel": Kind.ACLOP,
    "opapi_kernel": Kind.ACLNN,
    "rt_kernel": Kind.RUNTIME,
    "host_kernel": Kind.RUNTIME,
    "hccl_kernel": Kind.COLLECTIVE,
    "cpu_kernel": Kind.HOST,
}


@cache
def ai_cpu_operators() -> frozenset[str]:
    """Operators that the aclop path leads to a custom AI CPU kernel."""
    path = Path(__file__).with_name("ai_cpu_operators.json")
    return frozenset(json.loads(path.read_text(encoding="utf-8"))["operators"])


@dataclass
class Log:
    """What the log says, before kinds and lines are put together."""

    # (operator, device or kind, place, gradient) -> calls
    eager: Counter[tuple[str, str, Place | None, bool]] = field(default_factory=Counter)
    compiled: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, Kind] = field(default_factory=dict)
    back_off: Counter[str] = field(default_factory=Counter)
    ai_cpu: set[str] = field(default_factory=set)
    last_place: Place | None = None
    # operator, in small letters -> where it was called last
    last_calls: dict[str, Place] = field(default_factory=dict)
    # The last lines that are not MindSpore's log: what the program itself wrote.
    said: deque[str] = field(default_factory=lambda: deque(maxlen=6))

    def kind_of(self, name: str) -> Kind:
        # Attributes make a kernel announce itself; those without any are known from the table.
        custom = name in self.ai_cpu or name in ai_cpu_operators()
        if custom and self.kinds.get(name) is Kind.ACLOP:
            return Kind.AI_CPU
        if name in self.back_off:
            return Kind.HOST
        return self.kinds.get(name, Kind.ACLOP)

    def forget_calls(self) -> None:
        """Start to count anew; what is known of the kernels stays."""
        self.eager.clear()
        self.compiled.clear()
        self.back_off.clear()

    def eager_kernels(self) -> Counter[Kernel]:
        found: Counter[Kernel] = Counter()
        for (name, device, place, gradient), count in self.eager.items():
            kind = {"aclnn": Kind.ACLNN, "CPU": Kind.HOST}.get(device) or self.kind_of(name)
            found[Kernel(name, kind, place, gradient)] += count
        return found


class LogReader:
    """Fed with the lines in order."""

    def __init__(self) -> None:
        self.log = Log()
        self._place: Place | None = None
        # Set while gradients run: the place of the forward operator.
        self._gradient: tuple[Place | None] | None = None
        # The differentiated operators in order, as MindSpore numbers them.
        self._forward: list[tuple[str, Place | None]] = []
        self._operator = ""
        # Kernels of the graph that is being built: a single eager operator, or a compiled function.
        self._built: list[str] = []

    def feed(self, line: str) -> None:
        if line.startswith("[ms-migrate]"):
            self._own(line)
        elif "impl function" in line:
            if found := _ACLNN.search(line):
                self._count(_camel(found["name"]), "aclnn")
        elif "RunOp name " in line:
            if found := _EAGER.search(line):
                self._count(found["name"], found["device"])
        elif "kernel opname:" in line:
            self._note_kernel(line)
        elif "start stream assign" in line:
            if "pynative_kernel_graph" not in line:
                self.log.compiled.update(self._built)
            self._built.clear()
        elif "backoff CPU kernel" in line:
            if found := _BACK_OFF.search(line):
                self.log.back_off[found["name"]] += 1
        elif "/pynative/" in line:
            self._bookkeeping(line)
        elif not line.startswith("[") and line.strip():
            self.log.said.append(line.rstrip())

    def _own(self, line: str) -> None:
        if line.startswith(BEGIN):
            self.log.forget_calls()
        elif line.startswith(_AI_CPU):
            self.log.ai_cpu.add(line[len(_AI_CPU) :].strip())
        elif line.startswith(MARK):
            file, _, number = line[len(MARK) :].strip().rpartition(":")
            self._place = Place(file, int(number)) if file and number.isdigit() else None
            if self._place is not None:
                self.log.last_place = self._place

    def _count(self, name: str, device: str) -> None:
        gradient = self._gradient is not None
        place = self._gradient[0] if self._gradient is not None else self._place
        self.log.eager[name, device, place, gradient] += 1
        if place is not None:
            self.log.last_calls[name.lower()] = place

    def _note_kernel(self, line: str) -> None:
        if found := _KERNEL.search(line):
            self.log.kinds[found["name"]] = _TYPES.get(found["type"], Kind.OTHER)
            self._built.append(found["name"])

    def _bookkeeping(self, line: str) -> None:
        if "Begin KPynativeOp" in line:
            found = _FORWARD.search(line)
            self._operator = found["name"] if found else ""
        elif "UpdateNextEdges] Get input size" in line:
            if self._gradient is None:
                self._forward.append((self._operator, self._place))
            self._operator = ""
        elif "Make new topest graph" in line:
            self._forward.clear()
        elif "Begin calculate op" in line:
            self._gradient = (self._forward_place(line),)
        elif "End BackPropagate" in line:
            self._gradient = None

    def _forward_place(self, line: str) -> Place | None:
        found = _GRADIENT.search(line)
        if found is None or int(found["index"]) >= len(self._forward):
            return None
        name, place = self._forward[int(found["index"])]
        return place if name in ("", found["name"]) else None


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
