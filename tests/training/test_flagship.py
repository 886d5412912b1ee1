"""A quick sample of `make flagship`: what is slow there is left out, nothing is done otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.port import without_torch
from tests.training import flagship_programs as programs
from tests.training.flagship_matrix import Case, run_case

pytestmark = pytest.mark.frameworks

NAMES = [name for name in programs.ALL if name != "imagenet"]  # takes all of torchvision along


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flagship")
    programs.write_data(folder)
    for name in NAMES:
        programs.port(programs.ALL[name], folder)  # with the findings that it must have
    return folder


def test_each_is_imported_without_torch(folder: Path) -> None:
    without_torch.check(folder / f"ported_{name}" for name in NAMES)


@pytest.mark.parametrize(
    ("name", "mode", "two", "amp"),
    [("registry", "graph", False, False), ("cifar", "pynative", True, True)],
)
def test_training_goes_on_as_torchs(
    folder: Path, name: str, mode: str, two: bool, amp: bool
) -> None:
    run_case(programs.ALL[name], folder, Case(name, two, amp, mode), resume=not two)
