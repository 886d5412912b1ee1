"""One trial on MindSpore's Ascend backend without a device: is it accepted, and by which kernels?

Nothing is computed, so nothing is compared: forward, gradient and Graph mode are run for what the
backend says of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from migrate.preflight.log_reader import LogReader
from migrate.preflight.messages import meaning
from migrate.preflight.result import Kind
from migrate.verify.agree import flat
from migrate.verify.bridge import to_mindspore
from migrate.verify.program import Trial

ACCEPTED = "accepted"
VARIABLE = "MS_MIGRATE_DRY_RUN"
# Samples of one variant and dtype: kernels depend on these, hardly on the rest.
_MOST_SAMPLES = 2


def active() -> bool:
    """This process has the stub libraries in CANN's place."""
    return bool(os.environ.get(VARIABLE))


def select_device() -> None:
    import mindspore

    mindspore.set_device("Ascend")


def few(trials: Iterable[Trial]) -> list[Trial]:
    """The first trials of each variant and dtype, without torch's errors."""
    counted: dict[tuple[str, str, str], int] = {}
    found = []
    for trial in trials:
        key = (trial.api, trial.variant, trial.dtype)
        counted[key] = counted.get(key, 0) + 1
        if trial.text and trial.variant != "error" and counted[key] <= _MOST_SAMPLES:
            found.append(trial)
    return found


def run_trial(
    trial: Trial, ported: Callable[..., Any], reach: Callable[[str, dict[str, str]], None]
) -> dict[str, str]:
    """What the backend says of each stage."""
    import mindspore

    log = _Log(Path("log.txt"))
    arguments = [to_mindspore(value) for value in trial.inputs]
    outcome = {"forward": _stage(log, lambda: ported(*arguments))}
    places = tuple(i for i, value in enumerate(trial.inputs) if bool(value.requires_grad))
    if trial.gradient and places and not trial.random and _passed(outcome["forward"]):
        reach("gradient", outcome)
        gradient = mindspore.grad(_total(ported), grad_position=places)
        outcome["gradient"] = _stage(log, lambda: gradient(*arguments))
    if trial.graph:
        reach("graph", outcome)
        compiled = mindspore.jit(ported)
        outcome["graph"] = _stage(log, lambda: compiled(*arguments))
    return outcome


def _passed(text: str) -> bool:
    return text.startswith((ACCEPTED, str(Kind.AI_CPU), str(Kind.HOST)))


def _total(ported: Callable[..., Any]) -> Callable[..., Any]:
    def total(*inputs: Any) -> Any:
        parts = [output for output in flat(ported(*inputs)) if _is_float(output)]
        return sum(part.astype("float32").sum() for part in parts)

    return total


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


SLOW = (Kind.HOST, Kind.AI_CPU)
