"""Modules and contexts of torch's that a name, an attribute or a function's result holds."""

from __future__ import annotations

import pytest

PRESETS = """\
import torchvision


def get_module(use_v2):
    if use_v2:
        import torchvision.transforms.v2

        return torchvision.transforms.v2
    return torchvision.transforms


class Preset:
    library = torchvision.transforms

    def __init__(self, use_v2):
        T = get_module(use_v2)
        self.chain = T.Compose([T.CenterCrop(8), T.ToTensor()])
        self.crop = self.library.CenterCrop(4)
"""


def test_members_of_what_a_function_returns_are_the_librarys(port) -> None:
    ported = port(PRESETS)
    assert not ported.findings
    assert "helpers.Compose([vision.CenterCrop(8), vision.ToTensor()])" in ported.text
    assert "self.crop = helpers.CenterCrop(4)" in ported.text
    assert ported.text.count("return vision\n") == 2
    assert "torchvision" not in ported.text


def test_one_of_two_modules_by_a_condition(port) -> None:
    source = """\
    import torch.nn.functional as F
    import torchvision

    def crop(x, v2):
        t = torchvision.transforms.v2 if v2 else torchvision.transforms
        f = F
        return t.CenterCrop(2), f.softplus(x)
    """
    ported = port(source)
    assert not ported.findings
    assert "return helpers.CenterCrop(2), ops.softplus(x)" in ported.text


def test_members_that_differ_between_the_modules_are_reported(port) -> None:
    source = """\
    import torch
    import torch.nn.functional as F

    def f(x, flag):
        m = F if flag else torch
        return m.normalize(x)
    """
    assert port(source).findings


def test_a_module_that_is_handed_on_keeps_its_finding(port) -> None:
    for use in ("print(T)", "use(T)", "kinds = [T]", "getattr(T, name)"):
        body = f"    T = torchvision.transforms\n    {use}\n"
        source = f"import torchvision\n\n\ndef f(name, use):\n{body}"
        codes = {finding.code for finding in port(source).findings}
        assert codes & {"MS311", "MS303"}, use


def test_a_name_that_another_file_reads_keeps_its_finding(port_files) -> None:
    files = {
        "a.py": "import torchvision\n\nT = torchvision.transforms\n",
        "b.py": "import a\n\nx = a.T\n",
    }
    assert port_files(files, "a.py", "b.py").findings


def test_autocast_is_passed_on(port) -> None:
    source = """\
    import torch
    from contextlib import nullcontext
    from functools import partial

    has_amp = getattr(torch.cuda.amp, "autocast") is not None
    cast = torch.cuda.amp.autocast if has_amp else nullcontext
    half = partial(torch.autocast, device_type="cuda", dtype=torch.float16)
    """
    ported = port(source)
    assert not ported.findings
    assert "has_amp = helpers.cuda_autocast is not None" in ported.text
    assert "cast = helpers.cuda_autocast if has_amp else nullcontext" in ported.text
    assert "partial(helpers.autocast, device_type=" in ported.text


def test_a_context_without_a_form_of_its_own_is_reported(port) -> None:
    source = """\
    import torch

    context = torch.enable_grad
    """
    assert [finding.code for finding in port(source).findings] == ["MS310"]


@pytest.mark.parametrize(
    ("loss", "whole"),
    [
        ("criterion(z, y)", True),
        ("(z.float() @ z.float().t()).mean()", False),
        ("torch.einsum('ij,kj->ik', z, z).mean()", False),
        ("similar(z)", False),
        ("Pairs()(z)", False),
    ],
)
def test_products_behind_a_block_of_autocast_stay_outside(port, loss, whole) -> None:
    """Only a block that all of the step may compute under becomes its decorator."""
    text = port(
        f"""
        import torch
        from torch import nn

        def similar(z):
            return torch.mm(z, z.t()).mean()

        class Pairs(nn.Module):
            def forward(self, z):
                return similar(z)

        def train(model: nn.Module, loader, optimizer: torch.optim.Optimizer):
            criterion = nn.CrossEntropyLoss()
            for x, y in loader:
                with torch.autocast("cuda"):
                    z = model(x)
                loss = {loss}
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """
    ).text
    assert ('@helpers.autocast("cuda")' in text) is whole
    assert ('with helpers.autocast("cuda"):' in text) is not whole
