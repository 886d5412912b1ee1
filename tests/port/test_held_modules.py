"""Modules and contexts of torch's that a name, an attribute or a function's result holds."""

from __future__ import annotations

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
