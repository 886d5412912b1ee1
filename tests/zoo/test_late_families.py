"""torchvision's families from 2018 on, the smallest builder of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nursery import Nursery
from tests.zoo.conftest import check_family

# file, call, input
FAMILIES = [
    ("convnext", "convnext_tiny(num_classes=10)", "2,3,32,32"),
    ("efficientnet", "efficientnet_b0(num_classes=10)", "2,3,32,32"),
    ("mnasnet", "mnasnet0_5(num_classes=10)", "2,3,64,64"),
    ("mobilenetv3", "mobilenet_v3_small(num_classes=10)", "2,3,64,64"),
    ("regnet", "regnet_y_400mf(num_classes=10)", "2,3,32,32"),
    ("shufflenetv2", "shufflenet_v2_x0_5(num_classes=10)", "2,3,64,64"),
    ("swin_transformer", "swin_t(num_classes=10)", "2,3,32,32"),
    ("vision_transformer", "vit_b_32(num_classes=10, image_size=32)", "2,3,32,32"),
]


@pytest.mark.parametrize(("family", "call", "shape"), FAMILIES, ids=[f[0] for f in FAMILIES])
def test_family(
    family: str, call: str, shape: str, models: Path, nursery: Nursery, tmp_path: Path
) -> None:
    check_family(family, call, shape, models, tmp_path)
