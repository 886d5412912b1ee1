"""`models.__dict__[name]()`: what the call gives is known where all that fit the call agree."""

from __future__ import annotations

import pytest

MODELS = """\
import math
from torch import nn


def conv(inputs, outputs):
    return nn.Conv2d(inputs, outputs, 3)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()


class Net(nn.Module):
    def __init__(self, classes=10):
        super().__init__()


def small(**options):
    return Net(**options)


def test():
    print(Net())
"""
CHOICES = ["models.__dict__[name]", "vars(models)[name]", "getattr(models, name)"]


@pytest.mark.parametrize("choice", CHOICES)
def test_a_network_chosen_by_name_is_a_network(port_files, choice: str) -> None:
    main = f"import models\n\n\ndef build(name):\n    net = {choice}()\n    return net.to('cuda')\n"
    tree = port_files({"main.py": main, "models.py": MODELS}, "main.py", "models.py")
    ported = next(f for path, f in tree.files.items() if path.name == "main.py")
    assert not ported.findings
    assert "return net\n" in ported.text


def test_what_may_give_anything_else_stays_unknown(port_files) -> None:
    main = "import models\n\n\ndef build(name, d):\n    return models.__dict__[name]().to(d)\n"
    models = f"{MODELS}\n\ndef other():\n    return open('x')\n"
    tree = port_files({"main.py": main, "models.py": models}, "main.py", "models.py")
    ported = next(f for path, f in tree.files.items() if path.name == "main.py")
    assert [finding.code for finding in ported.findings] == ["MS307"]


def test_images_are_no_tensors(port) -> None:
    ported = port(
        """\
        import numpy as np
        import torch
        from PIL import Image


        def load(path, size):
            image = Image.open(path).convert("RGB").resize((size, size), Image.BILINEAR)
            return torch.from_numpy(np.array(image))
        """
    )
    assert not ported.findings
    assert '.convert("RGB").resize((size, size), Image.BILINEAR)' in ported.text


def test_items_of_tuples_that_branches_return_keep_their_places(port) -> None:
    ported = port(
        """\
        import torch
        from torch import nn


        def placed(model: nn.Linear, many):
            if many:
                return nn.DataParallel(model), torch.device("cuda")
            return model, torch.device("cpu")


        def main(many):
            model, device = placed(nn.Linear(2, 2), many)
            return model, device.type == "cuda"
        """
    )
    assert not ported.findings
    assert 'helpers.device_type(device) == "cuda"' in ported.text
