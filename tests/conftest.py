"""Fixtures for every test: fresh interpreters for the frameworks, and an exit they cannot spoil."""

from __future__ import annotations

import inspect
import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from migrate import onednn

CHECKOUT = Path(__file__).resolve().parent.parent
# Convolutions are forty times slower on some processors; measured once, then cached.
os.environ.update(onednn.settings(os.environ))
# Ported programs compile their steps by default; tests say where they want Graph mode.
os.environ.setdefault("MS_MIGRATE_MODE", "pynative")

# The answer is on disk before the interpreter winds down, and os._exit skips the winding down:
# mindspore prints there and now and then crashes there, neither of which concerns a test.
_WORKER = """\
import os, pickle, sys, traceback
with open(sys.argv[1], "rb") as stream:
    source, name, positional, named = pickle.load(stream)
namespace = {"__name__": "__worker__"}
try:
    exec(compile(source, "<worker>", "exec"), namespace)
    answer = namespace[name](*positional, **named) if name else namespace.get("result")
    with open(sys.argv[2], "wb") as stream:
        pickle.dump(answer, stream)
except BaseException:
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)
sys.stdout.flush()
os._exit(0)
"""


class WorkerFailed(AssertionError):
    """The code raised, crashed or ran out of time in its interpreter; the text holds its output."""


@pytest.fixture
def run_in_worker(tmp_path: Path) -> Callable[..., Any]:
    """Give `run(code, *arguments, timeout=600, env=None, **named)`: it runs in a new interpreter.

    `code` is a function that needs nothing from its module (imports go inside), called with the
    arguments, or source text that leaves its answer in a variable called `result`. Arguments and
    answer travel by pickle: numpy arrays do, torch and mindspore tensors should not.
    """
    calls = 0

    def run(
        code: Callable[..., Any] | str,
        *arguments: Any,
        timeout: float = 600,
        env: Mapping[str, str] | None = None,
        **named: Any,
    ) -> Any:
        nonlocal calls
        calls += 1
        source = textwrap.dedent(code if isinstance(code, str) else inspect.getsource(code))
        name = "" if isinstance(code, str) else code.__name__
        request, answer = tmp_path / f"request.{calls}", tmp_path / f"answer.{calls}"
        request.write_bytes(pickle.dumps((source, name, arguments, named)))
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **(env or {})}
        environment["PYTHONPATH"] = os.pathsep.join(
            [str(CHECKOUT), *filter(None, [environment.get("PYTHONPATH")])]
        )
        try:
            done = subprocess.run(
                [sys.executable, "-c", _WORKER, str(request), str(answer)],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise WorkerFailed(f"no answer within {timeout} s\n{late.stderr or ''}") from None
        if done.returncode != 0 or not answer.exists():
            raise WorkerFailed(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return pickle.loads(answer.read_bytes())

    return run


# The files that take longest, longest first: started last, one of them would run alone at the end.
_LONGEST = [
    "training/test_programs",
    "zoo/test_late_families",
    "zoo/test_early_families",
    "port/test_passes",
    "metamorphic/test_relations",
    "preflight/test_command",
    "table/test_training_rows",
    "training/test_data_parallel",
    "table/test_functions",
    "hunt/test_hunt",
    "training/test_flagship",
    "training/test_curves",
    "zoo/test_idioms",
    "table/test_tensor_methods",
    "parity/test_check",
    "training/test_autocast",
    "reference_pt/test_programs",
    "training/test_resumed",
    "training/test_overflow",
    "fuzz/test_sample",
    "weights/test_convert",
    "parity/test_amp",
    "training/test_many_parameters",
    "table/test_module_members",
    "table/test_versions",
    "port/test_walk",
    "parity/test_forms",
]
_RANK = {str(CHECKOUT / "tests" / f"{name}.py"): place for place, name in enumerate(_LONGEST)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _RANK.get(str(item.path), len(_RANK)))


_verdict = pytest.StashKey[int]()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[_verdict] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Keep the tests' verdict as the exit code even if mindspore crashes while Python shuts down.

    Only a plain run needs it: xdist reports before its workers end. Under coverage the ordinary
    way out must stay open, or nothing is saved.
    """
    if (
        "mindspore" not in sys.modules
        or "coverage" in sys.modules
        or hasattr(config, "workerinput")
    ):
        return
    if (verdict := config.stash.get(_verdict, None)) is not None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(verdict)
