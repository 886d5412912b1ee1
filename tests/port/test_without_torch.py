"""A sample of `make imports`; tests/training/test_flagship.py has the flagship's programs."""

from __future__ import annotations

import pytest

from tests.port.without_torch import ROOT, check

pytestmark = pytest.mark.frameworks


def test_ported_programs_are_imported_without_torch() -> None:
    check([ROOT / "ported_ms"])  # tests/port/test_golden.py: it is what port writes
