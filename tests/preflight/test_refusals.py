"""Every seeded operator is reported with its line and its reason, by the real dry run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from migrate.parity.request import inputs
from migrate.parity.request.plan import Plan
from migrate.parity.workers.worker_main import Progress
from migrate.preflight import installation, process, stubs
from migrate.preflight.result import REFUSALS, Run

SEEDS = Path(__file__).with_name("seeds.py")
_SEED = re.compile(r"def (\w+)\(x\):\n    # ([^:\n]+): (\w+)\n")


def seeds() -> dict[str, tuple[str, str, int]]:
    """name -> (problem, operator, line of the call)."""
    text = SEEDS.read_text(encoding="utf-8")
    return {
        found[1]: (found[2], found[3], text[: found.end()].count("\n") + 1)
        for found in _SEED.finditer(text)
    }


def _jobs(mode: str) -> list[dict[str, object]]:
    plan = Plan(inputs=[inputs.parse("4,4")], train=False).to_json()
    return [
        {
            "kind": "target",
            "target": f'{SEEDS}:make("{name}")',
            "plan": plan,
            "loss_target": "",
            "optimizer_target": "",
            "roots": [str(SEEDS.parent)],
            "mode": mode,
            "ranks": 1,
        }
        for name in seeds()
    ]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    here = installation.find()
    found = process.run_batch(
        _jobs("pynative"),
        here,
        stubs.prepare(here),
        tmp_path_factory.mktemp("preflight") / "batch",
        soc="Ascend910B2",
        limits=process.Limits(60.0),
        tell=lambda line: None,
    )
    return dict(zip(seeds(), found, strict=True))


def test_there_are_many_seeds() -> None:
    assert len(seeds()) >= 38
    refused = [name for name, (problem, *_) in seeds().items() if problem in set(REFUSALS)]
    assert len(refused) >= 26


@pytest.mark.frameworks
@pytest.mark.parametrize("name", seeds())
def test_seed_is_reported(name: str, runs: dict[str, Run]) -> None:
    problem, operator, line = seeds()[name]
    run = runs[name]
    said = {(str(f.problem), f.operator.lower()): f for f in run.findings}
    assert (problem, operator.lower()) in said, run.findings
    finding = said[problem, operator.lower()]
    assert finding.message
    assert [(Path(p.file).name, p.line) for p in finding.places] == [("seeds.py", line)]
    assert run.verdict != "accepted"


@pytest.mark.frameworks
def test_building_leaves_the_device_to_be_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """MindSpore 2.8 takes set_device once; the model is built before that, on the CPU."""
    import mindspore

    from migrate.preflight.child import building

    def refuse(*given: object) -> None:
        raise RuntimeError("The 'mindspore.set_device' can not be modified.")

    monkeypatch.setattr(mindspore, "set_device", refuse)
    monkeypatch.setenv("MS_SIMULATION_LEVEL", "1")
    built = building.on_the_cpu(_jobs("pynative")[0], Progress(tmp_path / "stage"))
    assert built.error is None
    assert built.model is not None
