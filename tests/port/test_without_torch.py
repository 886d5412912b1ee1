"""A sample of `make imports`; tests/training/test_flagship.py has the flagship's programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.port.without_torch import ROOT, check, port, torchvision_models

pytestmark = pytest.mark.frameworks

# What is left of torch stands in a function that nobody calls, behind a guard, in an annotation.
SAMPLE = ("_api", "_utils", "_meta", "densenet", "resnet", "googlenet", "inception")


def test_ported_packages_are_imported_without_torch(tmp_path: Path) -> None:
    models = port("models", torchvision_models(*SAMPLE), tmp_path)
    check([models, ROOT / "ported_ms"])  # tests/port/test_golden.py: it is what port writes
