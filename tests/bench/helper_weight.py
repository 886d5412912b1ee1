"""Helper lines beside a port's own, over programs and packages: docs/results/bench_helpers.md.

A port that brings more helper code than it has of its own is a second framework, not a port.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import NamedTuple

from tests.bench.model_library import download

CHECKOUT = Path(__file__).resolve().parents[2]
RESULTS = CHECKOUT / "docs" / "results" / "bench_helpers.md"
FLAGSHIP = CHECKOUT / "tests" / "training" / "flagship"
LIBRARIES = {
    "denoising-diffusion-pytorch==2.3.4": "denoising_diffusion_pytorch",
    "efficientnet-pytorch==0.7.1": "efficientnet_pytorch",
    "lpips==0.1.4": "lpips",
    "open-clip-torch==3.3.0": "",
    "pytorch-fid==0.3.0": "pytorch_fid",
    "segmentation-models-pytorch==0.6.0": "segmentation_models_pytorch",
    "vector-quantize-pytorch==1.32.0": "vector_quantize_pytorch",
    "vit-pytorch==1.26.11": "vit_pytorch",
    "x-transformers==2.31.10": "x_transformers",
}
LARGE = 1000  # own lines from which the second aim holds


class Weight(NamedTuple):
    """What one port wrote."""

    own: int
    helpers: int
    modules: int
    reasons: dict[str, int]

    @property
    def share(self) -> float:
        return self.helpers / max(self.own, 1)


def corpora() -> dict[str, Path]:
    """What is ported, by name; packages that cannot be downloaded are left out."""
    vision = importlib.util.find_spec("torchvision")
    assert vision is not None and vision.origin is not None
    found = {"reference_pt": CHECKOUT / "reference_pt"}
    for folder in sorted(path for path in FLAGSHIP.iterdir() if (path.is_dir())):
        found[f"flagship: {folder.name}"] = folder
    found["tests/training/programs"] = CHECKOUT / "tests" / "training" / "programs"
    found["torchvision.models"] = Path(vision.origin).parent / "models"
    for library, package in LIBRARIES.items():
        place = download(library)
        if place is not None:
            found[library.replace("==", " ")] = place / package
    return found


def weigh(source: Path) -> Weight:
    """Port a folder and count the lines of Python that come out."""
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "out"
        command = [sys.executable, "-m", "migrate", "port", str(source), "-o", str(out)]
        done = subprocess.run(
            [*command, "--format", "json"], stdout=subprocess.PIPE, text=True, check=False
        )
        summary = json.loads(done.stdout)["summary"]
        lines = {path: _lines(path) for path in out.rglob("*.py")}
    helpers = [path for path in lines if path.name == "ms_migrate_helpers.py"]
    heavy = sum(lines[path] for path in helpers)
    return Weight(sum(lines.values()) - heavy, heavy, len(helpers), dict(summary["helper_reasons"]))


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def main() -> None:
    found: dict[str, Weight] = {}
    for name, source in corpora().items():
        found[name] = weigh(source)
        print(f"bench: {name}: {found[name].share:.2f}", file=sys.stderr, flush=True)
    RESULTS.write_text(page(found), encoding="utf-8")


def page(found: dict[str, Weight]) -> str:
    middle = statistics.median(weight.share for weight in found.values())
    large = max((weight.share for weight in found.values() if weight.own > LARGE), default=0.0)
    rows = [
        f"| {name} | {weight.own:,} | {weight.helpers:,} | {weight.modules} | {weight.share:.2f} "
        f"| {', '.join(f'{count} {why}' for why, count in weight.reasons.items())} |"
        for name, weight in found.items()
    ]
    return "\n".join(
        [
            "# Helper lines beside own lines",
            "",
            "Lines of `ms_migrate_helpers.py` over the other lines of Python that a port writes,",
            "and how many helpers are named for which reason. Blank lines and comments count.",
            "",
            "- command: `python -m tests.bench helpers`",
            f"- date: {date.today()}",
            f"- median {middle:.2f} (aim: below 0.25)",
            f"- largest above {LARGE:,} own lines {large:.2f} (aim: below 0.5)",
            "",
            "| ported | own lines | helper lines | modules | share | helpers by reason |",
            "|---|--:|--:|--:|--:|---|",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    main()
