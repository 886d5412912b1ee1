"""Ported packages are imported where torch is not installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.frameworks

ROOT = Path(__file__).resolve().parents[2]
FLAGSHIP = ROOT / "tests" / "training" / "flagship"
IMPORTS = """\
import importlib, sys


class WithoutTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "torchvision"):
            raise ImportError(f"there is no {name} here")


sys.meta_path.insert(0, WithoutTorch())
folder, *names = sys.argv[1:]
sys.path.insert(0, folder)
failed = {}
for name in names:
    try:
        importlib.import_module(name)
    except Exception as error:
        failed[name] = repr(error)
assert not failed, failed
assert not {"torch", "torchvision"} & set(sys.modules)
"""
# Its classes derive from torch.fx's: the import at its top is what a finding is about.
NEEDS_TORCH = {"models.feature_extraction"}


def torchvision_models() -> Path:
    found = importlib.util.find_spec("torchvision")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "models"


def modules(folder: Path) -> list[str]:
    """Dotted names of all files; scripts that read the command line when imported are left out."""
    names = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "parse_args()" in text and "__main__" not in text:
            continue
        parts = path.relative_to(folder).with_suffix("").parts
        names.append(".".join(parts).removesuffix(".__init__"))
    return [name for name in names if name not in NEEDS_TORCH]


CORPORA = {
    "models": torchvision_models,
    "executor": lambda: FLAGSHIP / "executor",
    "reference": lambda: FLAGSHIP / "reference",
    "smallcls": lambda: FLAGSHIP / "registry" / "smallcls",
    "cifar": lambda: FLAGSHIP / "cifar",
    "reference_pt": lambda: ROOT / "reference_pt",
}


@pytest.mark.parametrize("name", list(CORPORA))
def test_a_ported_package_is_imported_without_torch(tmp_path: Path, name: str) -> None:
    source = CORPORA[name]()
    package = (source / "__init__.py").exists()
    target = tmp_path / "ported" / name if package else tmp_path / "ported"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-m", "migrate", "port", source, "-o", target, "-q"],
        env=environment,
        check=False,
        capture_output=True,
    )
    found = modules(tmp_path / "ported")
    assert len(found) > 2
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, str(tmp_path / "ported"), *found],
        env={**os.environ, "PYTHONPATH": "", "GLOG_v": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
