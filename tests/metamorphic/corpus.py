"""Real modules to port in several spellings: installed packages, and the reference programs."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRAINING = ROOT / "tests" / "training" / "programs"
# One module of each kind; the wide run (`python -m tests.metamorphic`) takes them all.
SAMPLE = (
    "models/resnet.py",
    "models/densenet.py",
    "models/swin_transformer.py",
    "models/maxvit.py",
    "models/segmentation/deeplabv3.py",
    "models/detection/roi_heads.py",
    "ops/roi_align.py",
    "ops/boxes.py",
    "ops/misc.py",
)
TORCH_SAMPLE = ("distributions/multivariate_normal.py",)  # of torch itself
# Training loops in several styles: closures, averages, gradients by hand, lists of networks.
TRAINING_SAMPLE: tuple[str, ...] = (
    "adversarial",
    "averaged",
    "by_hand",
    "closures",
    "integers",
    "lists",
)
TRAINING_SAMPLE += ("by_class", "language", "one_line", "seeded_data", "settings", "shared")
TRAINING_SAMPLE += ("uncompiled",)


def package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None, f"{name} is not installed"
    return Path(spec.origin).parent


def sample() -> list[Path]:
    vision = package("torchvision")
    programs = sorted((ROOT / "reference_pt").glob("*.py"))
    training = [TRAINING / f"{name}.py" for name in TRAINING_SAMPLE]
    torch = [package("torch") / name for name in TORCH_SAMPLE]
    return [*(vision / name for name in SAMPLE), *torch, *programs, *training]


def whole() -> list[Path]:
    vision = package("torchvision")
    folders = [vision / "models", vision / "ops", vision / "transforms"]
    torch = package("torch")
    folders += [torch / "distributions", torch / "nn" / "utils", torch / "optim", TRAINING]
    found = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return [path for path in found if "torch" in path.read_text(encoding="utf-8")]


def alone(path: Path) -> str:
    """The module as one that stands alone: imports from above its folder become torchvision's."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level > 1:
            node.module = ".".join(filter(None, ("outside", node.module)))
            node.level = 0
    text = path.read_text(encoding="utf-8")
    return ast.unparse(tree) + "\n" if ".." in text else text
