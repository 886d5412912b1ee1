"""Compare two preprocessing functions on the same images, each in its own framework's worker."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from migrate.envelope import as_text, envelope
from migrate.errors import RequestError
from migrate.parity.judge.metrics import Measures, measure
from migrate.parity.request import options as shared
from migrate.parity.workers import record, worker
from migrate.printable import printable

# A step of one grey level in 255 after the usual normalisation is about 0.017; float32 noise is
# 1e-6.
ALLOWED = 1e-4


@dataclass
class ImageResult:
    """One image through both pipelines."""

    image: str
    problem: str
    measures: Measures | None

    @property
    def ok(self) -> bool:
        return not self.problem


def run(options: argparse.Namespace) -> int:
    """Print the largest difference of each image; 1 if any is more than rounding."""
    if not options.images:
        raise RequestError(
            "no images to compare on", next_step="give some with --images a.jpg b.png"
        )
    for image in options.images:
        if not Path(image).is_file():
            raise RequestError("no such image", where=image)
    targets = [shared.check_target(text) for text in options.data]
    allowed = options.atol if options.atol is not None else ALLOWED
    images = [str(Path(image).resolve()) for image in options.images]
    with tempfile.TemporaryDirectory(prefix="ms-migrate-") as name:
        folder = Path(name)
        workers = [
            worker.start(
                "torch" if side == "torch" else "MindSpore",
                {
                    "action": f"{side}-data",
                    "target": target,
                    "images": images,
                    "step": str(folder / side),
                },
                folder / f"work-{side}",
                python=python,
                timeout=options.timeout,
            )
            for side, target, python in (
                ("torch", targets[0], options.torch_python),
                ("mindspore", targets[1], options.ms_python),
            )
        ]
        worker.finish(workers)
        ours = record.Tensors(folder / "torch" / "run.safetensors")
        theirs = record.Tensors(folder / "mindspore" / "run.safetensors")
        results = [
            compare(Path(image).name, ours[str(i)], theirs[str(i)], allowed)
            for i, image in enumerate(images)
        ]
    as_json = options.format == "json"
    print(_json(results, allowed) if as_json else printable(_text(results, allowed)))
    return 0 if all(result.ok for result in results) else 1


def compare(image: str, truth: record.Array, other: record.Array, allowed: float) -> ImageResult:
    """Compare what both pipelines made of one image."""
    if truth.shape != other.shape:
        return ImageResult(
            image, f"shape {list(other.shape)}, torch's is {list(truth.shape)}", None
        )
    measures = measure(truth, other)
    if measures.nonfinite_mismatches:
        return ImageResult(image, "NaN or infinite on one side only", measures)
    problem = ""
    if measures.max_abs > allowed:
        problem = f"differs by up to {measures.max_abs:.4g} at {list(measures.max_index)}"
    return ImageResult(image, problem, measures)


def _text(results: list[ImageResult], allowed: float) -> str:
    lines = []
    for result in results:
        m = result.measures
        numbers = f"max {m.max_abs:.3g}, mean {m.accumulated_relative:.3g} relative" if m else ""
        lines.append(
            f"{'agrees ' if result.ok else 'differs'}  {result.image}  {result.problem or numbers}"
        )
    wrong = [result for result in results if not result.ok]
    if wrong:
        lines.append(
            f"\nDIVERGES: {len(wrong)} of {len(results)} images differ by more than {allowed:g}. "
            "MindSpore's own Resize shrinks without antialiasing; decode to PIL "
            "(vision.Decode(to_pil=True) or vision.ToPIL) and both pipelines use the same code."
        )
    else:
        lines.append(f"\nPARITY: {len(results)} images agree to within {allowed:g}")
    return "\n".join(lines)


def _json(results: list[ImageResult], allowed: float) -> str:
    images: list[dict[str, Any]] = [
        {
            "image": result.image,
            "agrees": result.ok,
            "problem": result.problem or None,
            "measures": result.measures.to_json() if result.measures else None,
        }
        for result in results
    ]
    code = int(not all(result.ok for result in results))
    body = {"allowed": allowed, "images": images}
    return as_text(envelope("data-parity", body, exit_code=code)).rstrip("\n")
