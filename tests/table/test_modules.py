"""The Cells that stand in for torch.nn modules give torch's outputs, gradients and statistics."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.frameworks

# The same constructor text builds both sides: a helper has torch's own signature. Then the inputs:
# a shape is drawn from N(0, 1), `(high, shape)` are integers below high, "unit" lies in (0, 1),
# "fixed" too and gets no gradient.
CASES: list[tuple[str, list[Any]]] = [
    ("AdaptiveAvgPool1d(5)", [(2, 3, 7)]),
    ("AdaptiveMaxPool3d((2, None, 3))", [(2, 3, 5, 4, 7)]),
    ("AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False)", [(2, 3, 8, 7)]),
    ("BatchNorm1d(3, momentum=0.3)", [(4, 3, 5)]),
    ("BatchNorm2d(3, momentum=0.3, bias=False)", [(4, 3, 5, 5)]),
    ("BatchNorm3d(3, track_running_stats=False)", [(4, 3, 2, 3, 2)]),
    ("BCELoss(reduction='sum')", ["unit", "unit"]),
    ("BCEWithLogitsLoss()", [(6, 4), "unit"]),
    ("CircularPad2d((1, 2, 0, 1))", [(2, 3, 4, 5)]),
    ("Conv1d(4, 6, 3, padding=2, padding_mode='reflect')", [(2, 4, 9)]),
    ("Conv2d(4, 6, 3, stride=2, padding=(1, 0), groups=2)", [(2, 4, 9, 8)]),
    ("Conv2d(4, 6, 4, padding='same', padding_mode='replicate')", [(2, 4, 6, 7)]),
    ("Conv3d(2, 3, (3, 2, 1), padding=(1, 0, 0), bias=False)", [(2, 4, 5, 4)]),
    ("ConvTranspose1d(4, 6, 3, stride=3, output_padding=2)", [(2, 4, 5)]),
    ("ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1)", [(2, 4, 5, 4)]),
    ("ConvTranspose3d(4, 2, 3, stride=2, padding=(1, 0, 1), groups=2)", [(4, 3, 4, 3)]),
    ("CosineSimilarity(dim=-1)", [(3, 5), (3, 5)]),
    ("CrossEntropyLoss(label_smoothing=0.1, ignore_index=2)", [(6, 4), (4, (6,))]),
    ("ELU(alpha=0.5)", [(3, 4)]),
    ("Embedding(7, 4, padding_idx=2)", [(7, (3, 5))]),
    ("EmbeddingBag(7, 4, mode='max')", [(7, (3, 5))]),
    ("Fold((4, 5), 2, padding=1, stride=2)", [(2, 12, 9)]),
    ("GroupNorm(2, 4, bias=False)", [(3, 4, 5)]),
    ("GRUCell(4, 5)", [(3, 4)]),
    ("InstanceNorm2d(3, affine=True, track_running_stats=True)", [(2, 3, 4, 4)]),
    ("KLDivLoss(reduction='batchmean', log_target=True)", [(4, 5), (4, 5)]),
    ("LayerNorm((3, 4), bias=False)", [(2, 3, 4)]),
    ("LocalResponseNorm(4, alpha=0.1)", [(2, 6, 3, 3)]),
    ("LogSoftmax()", [(2, 3, 4)]),
    ("LPPool2d(2, 3, stride=2)", [(2, 3, 7, 7)]),
    ("LSTMCell(4, 5)", [(4,)]),
    ("MaxPool2d(3, 2, 1, dilation=2)", [(2, 3, 9, 8)]),
    ("MarginRankingLoss(0.5)", [(6,), (6,), (2, (6,))]),
    ("PairwiseDistance(p=3.0, keepdim=True)", [(3, 5), (3, 5)]),
    ("RMSNorm((4,))", [(2, 3, 4)]),
    ("SELU()", [(3, 4)]),
    ("SoftMarginLoss()", [(6, 4), "fixed"]),
    ("Softplus(beta=2.0, threshold=1.0)", [(3, 4)]),
    ("TripletMarginLoss(swap=True)", [(4, 5), (4, 5), (4, 5)]),
    ("Unfold((2, 3), dilation=(1, 2), padding=1)", [(2, 3, 5, 6)]),
    ("UpsamplingBilinear2d(scale_factor=2)", [(2, 3, 4, 5)]),
    ("ZeroPad3d((1, 0, 2, 1, 0, 1))", [(2, 3, 4, 3, 2)]),
]
# Compiling takes a second or two each: one of every kind.
COMPILED = ("Conv1d", "ConvTranspose2d", "CrossEntropyLoss", "Embedding(", "InstanceNorm2d", "SELU")

WORKER = Path(__file__).with_name("compare_modules.py")


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> dict[tuple[str, bool], Any]:
    """All comparisons, from one fresh interpreter."""
    folder = tmp_path_factory.mktemp("modules")
    request, answer = folder / "request", folder / "answer"
    root = Path(__file__).resolve().parents[2]
    request.write_bytes(pickle.dumps((CASES, COMPILED, str(root), str(answer))))
    done = subprocess.run(
        [sys.executable, str(WORKER), str(request)], capture_output=True, text=True, timeout=240
    )
    assert answer.exists(), done.stderr[-2000:]
    return pickle.loads(answer.read_bytes())


@pytest.mark.parametrize("text", [text for text, _ in CASES])
def test_a_module_computes_what_torch_does(text, results):
    assert close(results[text, False])


@pytest.mark.parametrize("text", [text for text, _ in CASES if text.startswith(COMPILED)])
def test_a_module_computes_the_same_when_compiled(text, results):
    assert close(results[text, True])


def close(found: Any) -> bool:
    """Every measured difference is float32 noise; gradients add up more of it."""
    assert isinstance(found, dict), found
    far = {name: size for name, size in found.items() if isinstance(size, str) or size > 5e-4}
    assert not far, far
    return bool(found)
