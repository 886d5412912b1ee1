"""Fragments in random company: ported, run in both modes, and never silently wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.hunt.compose import FRAGMENTS, chains, composed
from tests.hunt.run import hunt

PROGRAMS = 12  # in one batch: starting the frameworks takes longer than they do
_CHECKS = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
_PHASES = (Phase.generate, Phase.shrink)


def test_every_fragment_keeps_the_shape() -> None:
    import torch
    import torch.nn.functional as F

    for name, fragment in FRAGMENTS.items():
        scope = {"torch": torch, "F": F}
        exec("def f(x):\n    " + fragment + "\n    return x", scope)
        x = torch.arange(24.0).reshape(4, 6)
        assert scope["f"](x).shape == (4, 6), name  # type: ignore[operator]


@pytest.mark.frameworks
@seed(20261117)
@settings(max_examples=1, deadline=None, suppress_health_check=_CHECKS, phases=_PHASES)
@given(st.lists(st.tuples(chains, st.booleans()), min_size=PROGRAMS, max_size=PROGRAMS))
def test_composed_programs_are_never_silently_wrong(
    tmp_path: Path, drawn: list[tuple[list[str], bool]]
) -> None:
    programs = [composed(chain, network, i) for i, (chain, network) in enumerate(drawn)]
    judged = hunt(programs, tmp_path)
    wrong = {one.program.name: one.differences for one in judged if one.verdict == "silent"}
    assert not wrong
