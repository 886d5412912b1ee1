"""One torch record for all tests that only need something to compare with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity import fault_table


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which fault_table keeps torch's records, so that each is made once."""
    return tmp_path_factory.mktemp("records")


@pytest.fixture(scope="session")
def cnn_record(records: Path) -> Path:
    return fault_table.capture_torch(fault_table.FAMILIES["cnn"], records)
