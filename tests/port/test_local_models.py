"""torchvision's models ported along with the program that uses them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from migrate.cli import main
from migrate.rewrite.names.local_imports import local_imports


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torchvision.models as models", "import tvm as models"),
        ("import torchvision.models.resnet as R", "import tvm.resnet as R"),
        ("from torchvision import models", "import tvm as models"),
        ("from torchvision import models as M  # the zoo", "import tvm as M  # the zoo"),
        ("from torchvision import (\n    models,\n)", "import tvm as models\n\n"),
        ("from torchvision.models import vgg16", "from tvm import vgg16"),
        ("from torchvision.models.vgg import VGG", "from tvm.vgg import VGG"),
        (
            "from torchvision import datasets, models, transforms",
            "from torchvision import datasets, transforms; import tvm as models",
        ),
        (
            "from torchvision import datasets, models",
            "from torchvision import datasets; import tvm as models",
        ),
        (
            "import torchvision\nnet = torchvision.models.vgg16()",
            "import torchvision; import tvm\nnet = tvm.vgg16()",
        ),
        (
            "import torchvision.models\né = torchvision.models.vgg16()",
            "import torchvision; import tvm\né = tvm.vgg16()",
        ),
        ("import torchvision\ntorchvision.io.read_image('a')", None),
        ("import models\nmodels.vgg16()", None),
    ],
)
def test_imports_lead_to_the_package_beside(before: str, after: str | None) -> None:
    assert local_imports(before, "tvm", "") == (before if after is None else after)


def test_inside_a_package_the_imports_are_relative() -> None:
    text = "import torchvision.models as models\nfrom torchvision.models.vgg import VGG\n"
    assert local_imports(text, "tvm", "..") == (
        "from .. import tvm as models\nfrom ..tvm.vgg import VGG\n"
    )


PROGRAM = """\
import torch.nn as nn
from torchvision import models, transforms

resize = transforms.Resize(8)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = models.squeezenet1_1(num_classes=8).features
        self.head = models.resnet18(weights=None)
        self.head.fc = nn.Linear(self.head.fc.in_features, 5)

    def forward(self, x):
        return self.head(x), self.trunk(x)
"""


def test_only_the_files_that_are_used_come_along(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(PROGRAM)
    out = tmp_path / "out"
    code = main(["port", str(tmp_path / "net.py"), "-o", str(out), "--with-torchvision", "-q"])
    assert code == 0
    names = {path.name for path in (out / "torchvision_models").glob("*.py")}
    assert names == {
        *("__init__.py", "_api.py", "_meta.py", "_utils.py", "ms_migrate_helpers.py"),
        *("resnet.py", "squeezenet.py"),
    }
    text = (out / "net.py").read_text()
    assert "import torchvision_models as models\n" in text and "torchvision.models" not in text
    assert "nn.Dense(self.head.fc.in_channels, 5)" in text
    for path in out.rglob("*.py"):
        assert "import torch" not in path.read_text().replace("import torchvision_models", "")


def test_a_model_chosen_by_a_string_brings_all_of_them(tmp_path: Path) -> None:
    source = (
        "from torchvision import models as M\n\n\ndef make(name):\n    return M.__dict__[name]()\n"
    )
    (tmp_path / "net.py").write_text(source)
    out = tmp_path / "out"
    main(["port", str(tmp_path / "net.py"), "-o", str(out), "--with-torchvision", "-q"])
    assert (out / "net.py").read_text().startswith("import torchvision_models as M\n")
    names = {path.stem for path in (out / "torchvision_models").glob("*.py")}
    assert {"alexnet", "vgg", "swin_transformer", "mobilenetv3", "efficientnet"} <= names


def test_in_a_package_the_models_lie_beside_the_helpers(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    (package / "nets").mkdir(parents=True)
    for place in (package, package / "nets"):
        (place / "__init__.py").write_text("")
    (package / "nets" / "net.py").write_text(PROGRAM)
    out = tmp_path / "out"
    assert main(["port", str(package), "-o", str(out), "--with-torchvision", "-q"]) == 0
    assert (out / "torchvision_models" / "resnet.py").is_file()
    assert "from .. import torchvision_models as models" in (out / "nets" / "net.py").read_text()


def test_a_program_without_them_gets_none(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("from torch import nn\n\nlayer = nn.Linear(2, 3)\n")
    out = tmp_path / "out"
    assert main(["port", str(tmp_path), "-o", str(out), "--with-torchvision", "-q"]) == 0
    assert not (out / "torchvision_models").exists()


def test_a_folder_that_holds_no_models_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "net.py").write_text(PROGRAM)
    words = ["port", str(tmp_path / "net.py"), "-o", str(tmp_path / "out")]
    assert main([*words, f"--with-torchvision={tmp_path}"]) == 2
    assert "torchvision's models are not in" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def pretrained(folder: str, source: str) -> tuple[list[float], list[float]]:
    """Logits of torch's model and of the port that loads its converted weights."""
    import os
    import sys
    from pathlib import Path

    from migrate.vision_shim import ensure_torchvision

    ensure_torchvision()
    import numpy as np
    import torch
    import torchvision

    from migrate.cli import main

    x = np.linspace(-1, 1, 3 * 64 * 64, dtype=np.float32).reshape(1, 3, 64, 64)
    net = torchvision.models.squeezenet1_1().eval()
    name = "squeezenet1_1-b8a52dc0"
    torch.save(net.state_dict(), f"{folder}/{name}.pth")
    assert main(["weights", f"{folder}/{name}.pth", f"{folder}/{name}.ckpt"]) == 0
    Path(folder, "program.py").write_text(source)
    out = f"{folder}/out"
    assert main(["port", f"{folder}/program.py", "-o", out, "--with-torchvision", "-q"]) == 0
    os.environ["MS_WEIGHTS"] = folder
    sys.path.insert(0, out)
    from program import predict

    return net(torch.tensor(x))[0, :5].tolist(), predict(x)[0, :5].asnumpy().tolist()


@pytest.mark.frameworks
def test_published_weights_are_found_once_converted(
    run_in_worker: Callable[..., Any], tmp_path: Path
) -> None:
    source = """\
import torch
from torchvision.models import SqueezeNet1_1_Weights, squeezenet1_1


def predict(x):
    model = squeezenet1_1(weights=SqueezeNet1_1_Weights.DEFAULT)
    model.eval()
    return model(torch.tensor(x))
"""
    theirs, ours = run_in_worker(pretrained, str(tmp_path), source)
    assert ours == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize("script", [False, True])
def test_a_package_below_the_top_finds_the_models(tmp_path: Path, script: bool) -> None:
    """A setup.py that only mentions torchvision is no reason to put them beside it."""
    source = tmp_path / "source"
    (source / "pkg").mkdir(parents=True)
    (source / "setup.py").write_text("REQUIRES = ['torchvision']\n")
    (source / "pkg" / "__init__.py").write_text("")
    (source / "pkg" / "net.py").write_text(
        "import torch\nfrom torchvision import models\nnet = models.resnet18()\n"
    )
    if script:
        (source / "run.py").write_text("from torchvision import models\nmodels.resnet18()\n")
    out = tmp_path / "out"
    assert main(["port", str(source), "-o", str(out), "--with-torchvision", "-q"]) == 0
    text = (out / "pkg" / "net.py").read_text()
    assert (out / "torchvision_models").is_dir() == script
    assert (out / "pkg" / "torchvision_models").is_dir() != script
    reached = (
        "import torchvision_models as models" if script else "from . import torchvision_models"
    )
    assert reached in text


def test_a_class_derived_from_one_of_the_models_is_a_cell(tmp_path: Path) -> None:
    package = tmp_path / "source" / "pkg" / "deep"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "net.py").write_text(
        "from torchvision.models.resnet import BasicBlock, ResNet\n\n\n"
        "class Encoder(ResNet):\n    def forward(self, x):\n        return self.conv1(x)\n"
    )
    out = tmp_path / "out"
    assert main(["port", str(tmp_path / "source"), "-o", str(out), "--with-torchvision", "-q"]) == 0
    text = (out / "pkg" / "deep" / "net.py").read_text()
    assert "from ..torchvision_models.resnet import BasicBlock, ResNet" in text
    assert "def construct(self, x):" in text
