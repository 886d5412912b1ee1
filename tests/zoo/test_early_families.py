"""torchvision's families up to 2018, the smallest builder of each.

DenseNet and Inception take minutes to compile: `make zoo` has them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nursery import Nursery
from tests.zoo.conftest import check_family

# file, call, input
FAMILIES = [
    ("alexnet", "alexnet(num_classes=10)", "2,3,64,64"),
    ("googlenet", "googlenet(num_classes=10, init_weights=False, aux_logits=False)", "2,3,32,32"),
    ("mobilenetv2", "mobilenet_v2(num_classes=10)", "2,3,64,64"),
    ("resnet", "resnet18(num_classes=10)", "2,3,32,32"),
    ("squeezenet", "squeezenet1_1(num_classes=10)", "2,3,64,64"),
]


@pytest.mark.parametrize(("family", "call", "shape"), FAMILIES, ids=[f[0] for f in FAMILIES])
def test_family(
    family: str, call: str, shape: str, models: Path, nursery: Nursery, tmp_path: Path
) -> None:
    check_family(family, call, shape, models, tmp_path)
