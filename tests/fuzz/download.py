"""Fetch packages as fuzzing input: sources that nobody wrote with this porter in mind.

    python -m tests.fuzz.download FOLDER

Wheels are unpacked, never installed or imported, and only their Python files are kept.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

TORCH = """
timm transformers diffusers torchmetrics accelerate peft kornia torch-geometric gpytorch pyro-ppl
monai speechbrain ultralytics pytorch-lightning segmentation-models-pytorch open-clip-torch
sentence-transformers botorch mmengine torchaudio einops vector-quantize-pytorch
"""
OTHERS = """
django sqlalchemy pandas scikit-learn matplotlib twisted ansible-core sphinx jedi flask tornado
bokeh astropy biopython nltk zope.interface docutils scrapy celery mercurial
"""


def download(folder: Path) -> list[str]:
    """Unpack every package below the folder; gives their names and versions."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for name in f"{TORCH} {OTHERS}".split():
        words = ["--no-deps", "--only-binary", ":all:", "--quiet", "--dest", str(folder / "wheels")]
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", *words, name], check=False, timeout=600
        )
        if done.returncode:
            print(f"not available as a wheel: {name}", file=sys.stderr)
    for wheel in sorted((folder / "wheels").glob("*.whl")):
        name, version = wheel.name.split("-")[:2]
        found.append(f"{name} {version}")
        with zipfile.ZipFile(wheel) as archive:
            sources = [member for member in archive.namelist() if member.endswith(".py")]
            archive.extractall(folder / "packages" / name, sources)
    return found


if __name__ == "__main__":
    for line in download(Path(sys.argv[1])):
        print(line)
