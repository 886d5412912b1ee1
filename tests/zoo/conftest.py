"""One builder of a torchvision family, ported and compared; `make zoo` does it for all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
sys.path.insert(0, str(HERE))

from migrate.cli import main  # noqa: E402
from migrate.parity import check  # noqa: E402
from migrate.parity.request import inputs  # noqa: E402
from migrate.parity.request.plan import Plan  # noqa: E402
from migrate.parity.workers import worker  # noqa: E402
from tests.nursery import Nursery  # noqa: E402


@pytest.fixture(scope="module")
def models() -> Path:
    """torchvision's model files, found without importing the package."""
    import importlib.util

    spec = importlib.util.find_spec("torchvision")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "models"


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    # Both sides' workers may import torchvision: see shim/sitecustomize.py.
    paths = [str(HERE / "shim"), str(CHECKOUT), os.environ.get("PYTHONPATH", "")]
    before, os.environ["PYTHONPATH"] = os.environ.get("PYTHONPATH"), os.pathsep.join(paths)
    start, made = worker.start, Nursery()
    worker.start = made.start  # type: ignore[assignment]
    yield made
    worker.start = start
    made.close()
    os.environ.pop("PYTHONPATH")
    if before is not None:
        os.environ["PYTHONPATH"] = before


def check_family(family: str, call: str, shape: str, models: Path, folder: Path) -> None:
    """Port the family's file alone, and compare one training step."""
    out = folder / "ported"
    assert main(["port", str(models / f"{family}.py"), "-o", str(out), "--quiet"]) == 0
    given = [inputs.parse(shape)]
    # Without layers and with two runs for the noise it is quick, and on some processors too
    # strict: then the check decides as `ms-migrate parity` makes it.
    plans = Plan(inputs=given, classes=10, noise_runs=2, layers=False), Plan(given, classes=10)
    for number, plan in enumerate(plans):
        request = check.Request(
            torch=f"torchvision.models.{family}:{call}",
            mindspore=f"{out / family}.py:{call}",
            plan=plan,
            timeout=600.0,
        )
        report = check.run(request, folder / f"step{number}", lambda line: None)
        if report.exit_code == 0:
            break
    assert report.exit_code == 0, report.failures or (report.diagnosis and report.diagnosis.text)
