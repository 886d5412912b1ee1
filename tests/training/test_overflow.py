"""Level O2 with a dynamic loss scale: an injected overflow is skipped, and training goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.training.conftest import PORTED

pytestmark = pytest.mark.frameworks


CODE = """
from tests.training.overflow_run import train

result = {mode: train(mode, %r) for mode in ("pynative", "graph")}
"""


def test_an_overflow_is_skipped_and_training_recovers(run_in_worker: Callable[..., Any]) -> None:
    both = run_in_worker(CODE % str(PORTED), env={"MS_MIGRATE_AMP_LEVEL": "O2"})
    for mode in ("pynative", "graph"):
        _judge(both[mode])


def _judge(found: dict[str, Any]) -> None:
    assert found["half"]  # at O2 even the last layer gives float16
    assert found["moved"] == [number != 5 for number in range(16)]
    # Grown after four good steps, halved by the overflow, grown again after four.
    assert found["scale"][:6] == [1024, 1024, 1024, 2048, 2048, 1024]
    assert found["scale"][9] == 2048
    assert found["finite"]
    assert found["loss"][-1] < found["loss"][4] < found["loss"][0]
