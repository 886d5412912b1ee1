"""One trial on MindSpore's Ascend backend without a device: is it accepted, and by which kernels?

Nothing is computed, so nothing is compared: forward, gradient and Graph mode are run for what the
backend says of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from migrate.preflight.log_reader import LogReader
from migrate.preflight.messages import meaning
from migrate.preflight.result import Kind, Problem
from migrate.verify.agree import flat
from migrate.verify.bridge import to_mindspore
from migrate.verify.program import Trial

ACCEPTED = "accepted"
# Said when a kernel is chosen, before anything runs.
_CHOSEN = (str(Problem.DTYPE), str(Problem.NO_KERNEL), str(Problem.UNDECIDED))
VARIABLE = "MS_MIGRATE_DRY_RUN"


def active() -> bool:
    """This process has the stub libraries in CANN's place."""
    return bool(os.environ.get(VARIABLE))


def select_device() -> None:
    import mindspore

    mindspore.set_device("Ascend")


def run_trial(
    trial: Trial, ported: Callable[..., Any], reach: Callable[[str, dict[str, str]], None]
) -> dict[str, str]:
    """What the backend says of each stage."""
    arguments = [to_mindspore(value) for value in trial.inputs]
    places = tuple(i for i, value in enumerate(trial.inputs) if bool(value.requires_grad))
    if not trial.gradient or trial.random:
        places = ()
    return run_stages(ported, arguments, reach, places=places, graph=trial.graph)


def run_stages(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    reach: Callable[[str, dict[str, str]], None],
    *,
    places: tuple[int, ...] = (),
    weights: Any = None,
    graph: bool = False,
    compiled: Callable[[], Callable[..., Any]] | None = None,
) -> dict[str, str]:
    """Forward, gradient (of these arguments and weights), and both compiled."""
    import mindspore

    log = _own_log()
    outcome = {"forward": _stage(log, lambda: function(*arguments))}
    differentiable = bool(places) or weights is not None
    if differentiable and passed(outcome["forward"]):
        reach("gradient", outcome)
        eager = _gradient(function, places, weights)
        outcome["gradient"] = _stage(log, lambda: eager(*arguments))
    if not graph:
        return outcome
    reach("graph", outcome)
    whole = compiled() if compiled is not None else mindspore.jit(function)
    if passed(outcome.get("gradient", "")):
        # The graph of the gradient holds that of the forward pass.
        inner = _gradient(whole, places, weights)
        outcome["graph"] = _stage(log, lambda: inner(*arguments))
        if not passed(outcome["graph"]) and (total := _compilable(function, arguments)):
            # The gradient of a compiled function is refused: is that of a compiled step?
            step = mindspore.jit(mindspore.grad(total, places or None, weights))
            outcome["graph"] = _stage(log, lambda: step(*arguments))
        if passed(outcome["graph"]):
            return outcome
    alone = _stage(log, lambda: whole(*arguments))
    outcome["graph"] = outcome["graph"] if passed(alone) and "graph" in outcome else alone
    return outcome


def _gradient(
    function: Callable[..., Any], places: tuple[int, ...], weights: Any
) -> Callable[..., Any]:
    import mindspore

    gradient: Callable[..., Any] = mindspore.grad(_total(function), places or None, weights)
    return gradient


def passed(text: str) -> bool:
    """The backend took it, on whatever cores."""
    return text.startswith((ACCEPTED, str(Kind.AI_CPU), str(Kind.HOST)))


def harmless(text: str) -> bool:
    """Nothing was left half done: accepted, or refused when its kernel was chosen."""
    return passed(text) or text.startswith(_CHOSEN)


def _total(ported: Callable[..., Any]) -> Callable[..., Any]:
    def total(*inputs: Any) -> Any:
        parts = [output for output in flat(ported(*inputs)) if _is_float(output)]
        return sum(part.astype("float32").sum() for part in parts)

    return total


def _compilable(
    function: Callable[..., Any], arguments: Sequence[Any]
) -> Callable[..., Any] | None:
    """The same total as the compiler can read it: which outputs count is known beforehand."""
    import mindspore

    outputs = function(*arguments)
    single = isinstance(outputs, mindspore.Tensor)
    if not single and not isinstance(outputs, (list, tuple)):
        return None
    counted = [place for place, output in enumerate(outputs) if not single and _is_float(output)]

    def of_one(*inputs: Any) -> Any:
        return function(*inputs).astype(mindspore.float32).sum()

    def of_several(*inputs: Any) -> Any:
        found = function(*inputs)
        total = 0.0
        for place in counted:
            total = total + found[place].astype(mindspore.float32).sum()
        return total

    return of_one if single else of_several if counted else None


def _is_float(value: Any) -> bool:
    import mindspore

    return isinstance(value, mindspore.Tensor) and value.is_floating_point()


def _stage(log: _Log, run: Callable[[], Any]) -> str:
    import mindspore

    log.skip()
    try:
        run()
        mindspore.runtime.synchronize()
    except Exception as error:
        found = meaning(type(error).__name__, str(error))
        operator = f"{found.operator}: " if found.operator else ""
        return f"{found.problem}: {operator}{found.message}"[:240]
    slow = log.slow()
    return ACCEPTED if not slow else "; ".join(slow)


class _Log:
    """This process's own log, read piece by piece; kernels are built once and then reused."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self._reader = LogReader()

    def skip(self) -> None:
        """What was called until now does not count."""
        self._read()
        self._reader.log.forget_calls()

    def slow(self) -> list[str]:
        """The kernels since then that are not on the device's AI Core."""
        self._read()
        log = self._reader.log
        called = {kernel.name: kernel.kind for kernel in log.eager_kernels()}
        called |= {name: log.kind_of(name) for name in (*log.compiled, *log.back_off)}
        found = {kind: sorted(name for name in called if called[name] is kind) for kind in SLOW}
        return [f"{kind}: {', '.join(found[kind])}" for kind in SLOW if found[kind]]

    def _read(self) -> None:
        if not self._path.exists():
            return
        with self._path.open("rb") as stream:
            stream.seek(self._position)
            content = stream.read()
        self._position += len(content)
        for line in content.decode("utf-8", "replace").splitlines():
            self._reader.feed(line)


@cache
def _own_log() -> _Log:
    return _Log(Path("log.txt").resolve())


SLOW = (Kind.HOST, Kind.AI_CPU)
