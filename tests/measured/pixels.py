"""MindSpore's C++ image operations beside torchvision's on PIL images, by the largest difference in
grey levels: `python -m tests.measured.pixels --write` renews docs/results/data_pixels.md and .json,
which mappings/native_data.toml states.
"""

from __future__ import annotations

import datetime
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from migrate.vision_shim import ensure_torchvision

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
# Heights and widths: both parities, upright and lying, smaller and larger than what is cut out.
SIZES = ((120, 161), (161, 120), (233, 310), (310, 234), (375, 500))
IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
SETTINGS = {
    "gray": {"mode": "L"},
    "CMYK": {"mode": "CMYK"},
    "progressive": {"progressive": True},
    "4:4:4": {"subsampling": 0},
    "4:2:2": {"subsampling": 1},
    "4:2:0, quality 50": {"subsampling": 2, "quality": 50},
    "turned by EXIF": {"turned": True},
}


def pictures() -> list[Image.Image]:
    draws = np.random.default_rng(0)
    return [
        Image.fromarray(draws.integers(0, 256, (h // 8, w // 8, 3), np.uint8)).resize(
            (w, h), Image.Resampling.BICUBIC
        )
        for h, w in SIZES
    ]


def encoded(image: Image.Image, *, mode: str = "RGB", turned: bool = False, **how: Any) -> bytes:
    stream, tags = io.BytesIO(), Image.Exif()
    if turned:
        tags[0x0112] = 6
    image.convert(mode).save(stream, "JPEG", exif=tags, **how)
    return stream.getvalue()


def largest(ours: list[np.ndarray], theirs: list[np.ndarray]) -> int:
    """In grey levels; 255 where even the shapes differ. Normalised values by their own unit."""
    worst = 0.0
    for one, other in zip(ours, theirs, strict=True):
        if one.shape != other.shape:
            return 255
        unit = 1.0 if one.dtype == np.uint8 else 255.0
        worst = max(worst, unit * float(np.abs(one.astype(np.float64) - other).max()))
    return round(worst)


def cases() -> dict[str, list[tuple[Callable[[Any], Any], Callable[[Any], Any]]]]:
    """Of each torchvision transform: MindSpore's operation and torchvision's, without chance."""
    ensure_torchvision()
    from mindspore.dataset import vision
    from mindspore.dataset.vision import Border, Inter
    from torchvision import transforms

    def normalized(array: Any) -> Any:
        return vision.Normalize(*IMAGENET, is_hwc=False)(vision.ToTensor()(array))

    theirs = transforms.Compose([transforms.ToTensor(), transforms.Normalize(*IMAGENET)])
    modes = [(Inter[name], transforms.InterpolationMode[name]) for name in ("BILINEAR", "BICUBIC")]
    modes += [(Inter.NEAREST, transforms.InterpolationMode.NEAREST)]
    sizes: list[Any] = [100, 256, (96, 130), (400, 520)]
    whole = {"scale": (1.0, 1.0), "ratio": (1.0, 1.0)}
    return {
        "CenterCrop": [(vision.CenterCrop(n), transforms.CenterCrop(n)) for n in (100, 101)],
        "Normalize": [(normalized, theirs)],
        "Pad": [
            (vision.Pad(n, padding_mode=Border[mode.upper()]), transforms.Pad(n, 0, mode))
            for n in (4, (3, 5), (1, 2, 3, 4))
            for mode in ("constant", "reflect", "edge")
        ],
        "RandomCrop": [(vision.RandomCrop((n, n + 40)), Cuts(n, n + 40)) for n in (60, 80)],
        "RandomHorizontalFlip": [
            (vision.RandomHorizontalFlip(1.0), transforms.RandomHorizontalFlip(1.0))
        ],
        "RandomResizedCrop": [
            (vision.RandomResizedCrop(n, **whole), transforms.RandomResizedCrop(n, **whole))
            for n in (64, 100, 224)
        ],
        "RandomVerticalFlip": [
            (vision.RandomVerticalFlip(1.0), transforms.RandomVerticalFlip(1.0))
        ],
        "Resize": [
            (vision.Resize(size, mine), transforms.Resize(size, other))
            for size in sizes
            for mine, other in modes
        ],
        "ToTensor": [(vision.ToTensor(), transforms.ToTensor())],
    }


class Cuts:
    """Stands for torchvision's RandomCrop: any cut of the size is right, none else."""

    def __init__(self, height: int, width: int) -> None:
        self.size = height, width

    def nearest(self, picture: np.ndarray, cut: np.ndarray) -> np.ndarray:
        windows = np.lib.stride_tricks.sliding_window_view(picture, (*self.size, 3))
        places = np.argwhere((windows[:, :, 0, ::7, ::7] == cut[::7, ::7]).all((2, 3, 4)))
        return np.array(windows[places[0][0], places[0][1], 0]) if len(places) else 255 - cut


def measured() -> dict[str, int]:
    images = pictures()
    arrays = [np.asarray(image) for image in images]
    found: dict[str, int] = {}
    for name, pairs in cases().items():
        worst = 0
        for mine, other in pairs:
            ours = [np.asarray(mine(array)) for array in arrays]
            if isinstance(other, Cuts):
                theirs = [other.nearest(a, cut) for a, cut in zip(arrays, ours, strict=True)]
            else:
                theirs = [np.asarray(other(image)) for image in images]
            worst = max(worst, largest(ours, theirs))
        found[name] = worst
    return found


def decoded() -> dict[str, int]:
    """How far MindSpore's decoder is from PIL's, by kind of JPEG."""
    from mindspore.dataset import vision

    found = {}
    for name, how in SETTINGS.items():
        files = [encoded(image, **how) for image in pictures()]  # type: ignore[arg-type]
        ours = [vision.Decode()(np.frombuffer(file, np.uint8)) for file in files]
        theirs = [np.asarray(Image.open(io.BytesIO(file)).convert("RGB")) for file in files]
        found[name] = largest(ours, theirs)
    return found


def page(found: dict[str, dict[str, int]]) -> str:
    lines = [
        "# Pixels of MindSpore's C++ operations",
        "",
        "The largest difference from torchvision's transform on the same PIL image, of 255 grey "
        f"levels, over {len(SIZES)} images of {', '.join(f'{w}x{h}' for h, w in SIZES)}; floats "
        "times 255. 0 is equal.",
        "",
        "- command: `python -m tests.measured.pixels --write`",
        f"- date: {datetime.date.today()}; mindspore 2.10.0, torchvision beside torch 2.13.0",
        "",
        "| transform | grey levels |",
        "|---|--:|",
        *(f"| {name} | {value} |" for name, value in found["transforms"].items()),
        "",
        "| JPEG | decoded |",
        "|---|--:|",
        *(f"| {name} | {value} |" for name, value in found["decoded"].items()),
        "",
        "Resize and RandomResizedCrop do not filter when they shrink; CenterCrop rounds half "
        "pixels down where torchvision rounds to even, which moves the cut by one pixel.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    found = {"transforms": measured(), "decoded": decoded()}
    print(page(found))
    if "--write" in sys.argv:
        (RESULTS / "data_pixels.md").write_text(page(found), encoding="utf-8")
        text = json.dumps(found, indent=1) + "\n"
        (RESULTS / "data_pixels.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
