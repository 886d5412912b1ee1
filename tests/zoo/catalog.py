"""Which builders the sweep covers, and at which input each is run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass

_LIST = """
import json
from migrate.vision_shim import ensure_torchvision
ensure_torchvision()
import torchvision.models as models
def size(name):
    return models.get_model_weights(name).DEFAULT.meta["num_params"]
found = []
for kind, package in (("classification", models), ("segmentation", models.segmentation),
                      ("video", models.video)):
    for name in models.list_models(module=package):
        found.append((kind, name, models.get_model_builder(name).__module__, size(name)))
print(json.dumps(found))
"""

# (pattern, arguments, input): the first pattern that fits a builder counts. The inputs are the
# smallest ones at which every layer still sees more than one value.
_SETTINGS = {
    "classification": [
        # Without their auxiliary heads: with them they return named tuples, which Graph mode does
        # not compile.
        (r"googlenet", "num_classes=10, init_weights=False, aux_logits=False", "2,3,64,64"),
        (r"inception_v3", "num_classes=10, init_weights=False, aux_logits=False", "2,3,75,75"),
        (r"vit_h_14", "num_classes=10, image_size=28", "2,3,28,28"),
        (r"vit_._16", "num_classes=10, image_size=32", "2,3,32,32"),
        (r"vit_._32", "num_classes=10, image_size=64", "2,3,64,64"),
        # Four stages that all must divide into 7x7 windows.
        (r"maxvit_t", "num_classes=10", "2,3,224,224"),
        (r".*", "num_classes=10", "2,3,64,64"),
    ],
    "segmentation": [
        (
            r"lraspp.*",
            "weights_backbone=None, num_classes=5",
            "2,3,64,64",
        ),
        (r".*", "weights_backbone=None, num_classes=5, aux_loss=True", "2,3,64,64"),
    ],
    "video": [
        (r"swin3d_.*", "num_classes=10", "2,3,4,32,32"),
        # A pooling window of 2x7x7 at the end, and position tables for 16 frames of 224x224.
        (r"s3d", "num_classes=10", "1,3,16,224,224"),
        (r"mvit.*", "num_classes=10", "1,3,16,224,224"),
        (r".*", "num_classes=10", "2,3,4,32,32"),
    ],
}
# More than one output: all of them enter the loss, each against fixed random numbers.
_SEVERAL_OUTPUTS = re.compile(r"fcn_.*|deeplabv3_.*|lraspp_.*")


@dataclass(frozen=True)
class Case:
    """One builder, called the same way on both sides."""

    kind: str
    name: str
    module: str  # torchvision.models.resnet
    arguments: str
    input: str
    size: int  # parameters, as torchvision builds it by default

    @property
    def torch_target(self) -> str:
        return f"{self.module}:{self.name}({self.arguments})"

    @property
    def memory(self) -> int:
        """GB that a side takes at its peak: see docs/parity.md."""
        return round(2 + 20 * self.size / 1e9)

    @property
    def file(self) -> str:
        """The ported file, relative to the ported package."""
        return self.module.removeprefix("torchvision.models.").replace(".", "/") + ".py"

    @property
    def loss(self) -> str:
        return "project" if _SEVERAL_OUTPUTS.fullmatch(self.name) else "cross_entropy"

    @property
    def classes(self) -> int | None:
        return 10 if self.loss == "cross_entropy" else None


def cases() -> list[Case]:
    """Every classification, segmentation and video builder of the installed torchvision."""
    done = subprocess.run(
        [sys.executable, "-c", _LIST], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"torchvision does not import:\n{done.stderr}")
    found = []
    for kind, name, module, size in json.loads(done.stdout.splitlines()[-1]):
        for pattern, arguments, shape in _SETTINGS[kind]:
            if re.fullmatch(pattern, name):
                found.append(Case(kind, name, module, arguments, shape, size))
                break
    return found
