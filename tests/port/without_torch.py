"""Ported packages are imported where torch is not installed.

python -m tests.port.without_torch [NAME...]     ports and imports every corpus (make imports)
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from migrate.cli import main as migrate

ROOT = Path(__file__).resolve().parents[2]
FLAGSHIP = ROOT / "tests" / "training" / "flagship"
# Its classes derive from torch.fx's: the import at its top is what a finding is about.
NEEDS_TORCH = {"models.feature_extraction"}
# One interpreter for all folders; two may each have a utils.py, and each has its helpers.
IMPORTS = """\
import importlib, sys


class WithoutTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "torchvision"):
            raise ImportError(f"there is no {name} here")


sys.meta_path.insert(0, WithoutTorch())
failed = {}
for line in sys.stdin:
    folder, *names = line.split()
    sys.path.insert(0, folder)
    before = set(sys.modules)
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:
            failed[folder, name] = repr(error)
    for module in set(sys.modules) - before:
        if str(getattr(sys.modules[module], "__file__", "")).startswith(folder):
            del sys.modules[module]
    sys.path.remove(folder)
assert not failed, failed
assert not {"torch", "torchvision"} & set(sys.modules)
"""


def torchvision_models(folder: Path) -> Path:
    found = importlib.util.find_spec("torchvision")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "models"


def program(path: Path) -> Callable[[Path], Path]:
    return lambda folder: path


CORPORA: dict[str, Callable[[Path], Path]] = {
    "models": torchvision_models,
    **{path.name: program(path) for path in sorted(FLAGSHIP.iterdir()) if path.is_dir()},
    "data_parallel": program(FLAGSHIP.parent / "data_parallel"),
    "reference_pt": program(ROOT / "reference_pt"),
}

OPTIONS = {"imagenet": ["--with-torchvision"]}


def port(name: str, source: Callable[[Path], Path], folder: Path) -> Path:
    """The folder to import from."""
    given = source(folder / "source")
    ported = folder / name
    target = ported / given.name if (given / "__init__.py").exists() else ported
    with contextlib.redirect_stdout(io.StringIO()):
        options = ["-o", str(target), "-q", *OPTIONS.get(name, [])]
        assert migrate(["port", str(given), *options]) in (0, 1)
    return ported


def modules(folder: Path) -> list[str]:
    """Dotted names of all files; scripts that do their work when imported are left out."""
    names = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "__main__" not in text and ("parse_args()" in text or "sys.argv" in text):
            continue
        parts = path.relative_to(folder).with_suffix("").parts
        names.append(".".join(parts).removesuffix(".__init__"))
    return [name for name in names if name not in NEEDS_TORCH]


def check(folders: Iterable[Path]) -> None:
    """Import all modules of these folders in one interpreter that finds no torch."""
    lines = []
    for folder in folders:
        found = modules(folder)
        assert len(found) > 2, folder
        lines.append(" ".join([str(folder), *found]))
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS],
        input="\n".join(lines),
        env={**os.environ, "PYTHONPATH": "", "GLOG_v": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def main() -> None:
    names = sys.argv[1:] or list(CORPORA)
    with tempfile.TemporaryDirectory(prefix="imports-") as home:
        ported = []
        for name in names:
            ported.append(port(name, CORPORA[name], Path(home)))
            print(f"{name}: {len(modules(ported[-1]))} modules", flush=True)
        check(ported)
    print("all of them are imported without torch")


if __name__ == "__main__":
    main()
