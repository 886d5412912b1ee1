"""Whole packages, single files out of them, and the helper module that goes with each."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from migrate.cli import main

# nn.GELU with a computed `approximate` and BatchNorm as a value need helpers; a plain Linear does
# not.
WITH_HELPER = """\
from torch import nn

norm = nn.BatchNorm2d
"""
PLAIN = "from torch import nn\n\nlayer = nn.Linear(2, 3)\n"


def names_defined(text: str) -> set[str]:
    return {
        node.name
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def imported_modules(text: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


# Where the helper module goes ---------------------------------------------------------------------


def test_no_helper_module_where_none_is_needed(port_files) -> None:
    tree = port_files({"net.py": PLAIN}, "net.py")
    assert tree.helpers == {}


def test_lone_file_gets_its_helper_module_beside_it(port_files) -> None:
    tree = port_files({"net.py": WITH_HELPER}, "net.py")
    assert list(tree.helpers) == [Path("ms_migrate_helpers.py")]
    assert "import ms_migrate_helpers as helpers\n" in tree.files[Path("net.py")].text


def test_package_reaches_its_helper_module_by_a_relative_import(port_files) -> None:
    tree = port_files(
        {
            "pkg/__init__.py": WITH_HELPER,
            "pkg/net.py": WITH_HELPER,
            "pkg/sub/__init__.py": "",
            "pkg/sub/deep/__init__.py": WITH_HELPER,
            "pkg/sub/deep/net.py": WITH_HELPER,
        },
        "pkg",
    )
    assert list(tree.helpers) == [Path("ms_migrate_helpers.py")]
    line = "import ms_migrate_helpers as helpers\n"
    assert f"from . {line}" in tree.files[Path("__init__.py")].text
    assert f"from . {line}" in tree.files[Path("net.py")].text
    assert f"from ... {line}" in tree.files[Path("sub/deep/__init__.py")].text
    assert f"from ... {line}" in tree.files[Path("sub/deep/net.py")].text


def test_script_beside_a_package_shares_its_helper_module(port_files) -> None:
    tree = port_files(
        {
            "project/train.py": WITH_HELPER + "from pkg import net\n",
            "project/pkg/__init__.py": "",
            "project/pkg/net.py": WITH_HELPER,
        },
        "project",
    )
    assert set(tree.helpers) == {Path("ms_migrate_helpers.py")}
    for name in ("train.py", "pkg/net.py"):
        assert "\nimport ms_migrate_helpers" in "\n" + tree.files[Path(name)].text


def test_two_packages_are_self_contained(port_files) -> None:
    files = {}
    for name in ("one", "two"):
        files |= {f"{name}/__init__.py": "", f"{name}/net.py": WITH_HELPER}
    tree = port_files(files, "one", "two")
    assert set(tree.helpers) == {
        Path("one/ms_migrate_helpers.py"),
        Path("two/ms_migrate_helpers.py"),
    }


def test_single_file_out_of_a_package(port_files) -> None:
    """What it imports from its package is read for meaning, and stays imported as it was."""
    tree = port_files(
        {
            "pkg/__init__.py": "",
            "pkg/base.py": "from torch import nn\n\nclass Base(nn.Module):\n    pass\n",
            "pkg/net.py": """\
                from .base import Base

                class Net(Base):
                    def forward(self, x):
                        return x.view(x.size(0), -1)
                """,
        },
        "pkg/net.py",
    )
    (ported,) = tree.files.values()
    # The base class was not asked for: without it the ported file cannot run.
    assert [finding.code for finding in ported.findings] == ["MS316"]
    head, _, text = ported.text.partition("\n")
    assert head.startswith("# ms-migrate: MS316 pkg.base: base.py uses torch")
    assert text == (
        "from .base import Base\n\n"
        "class Net(Base):\n"
        "    def construct(self, x):\n"
        "        return x.view(x.shape[0], -1)\n"
    )


def test_files_ported_together_miss_nobody(port_files) -> None:
    files = {
        "helpers_of_mine.py": "import torch\n\ndef total(x: torch.Tensor):\n    return x.sum()\n",
        "plain.py": "def nothing():\n    return 0\n",
        "train.py": """\
            import torch
            import plain
            from helpers_of_mine import total

            print(total(torch.ones(2)), plain.nothing())
            """,
    }
    together = port_files(files, "helpers_of_mine.py", "train.py")
    assert not [finding for ported in together.files.values() for finding in ported.findings]
    alone = port_files(files, "train.py")
    found = [finding for ported in alone.files.values() for finding in ported.findings]
    assert [(finding.code, finding.line) for finding in found] == [("MS316", 3)]
    assert "ms-migrate port train.py helpers_of_mine.py" in found[0].next_step


# What is in it ------------------------------------------------------------------------------------


def test_only_what_is_used_is_emitted(port_files) -> None:
    tree = port_files({"net.py": WITH_HELPER}, "net.py")
    (text,) = tree.helpers.values()
    assert "BatchNorm2d" in names_defined(text)
    assert "Conv2d" not in text and "LayerNorm" not in text


def test_helper_module_is_self_contained(port_files) -> None:
    tree = port_files(
        {
            "net.py": """\
                import torch
                import torch.nn as nn
                import torch.nn.functional as F

                layers = [nn.Conv2d, nn.BatchNorm2d, nn.LayerNorm, nn.GELU, nn.Softmax, nn.MaxPool2d]

                def f(x: torch.Tensor, mode, size):
                    x = F.interpolate(x, size=size, mode=mode)
                    x = torch.einsum("ij,jk->ik", x, x)
                    return x.topk(2)
                """  # noqa: E501
        },
        "net.py",
    )
    (text,) = tree.helpers.values()
    compile(text, "ms_migrate_helpers.py", "exec")
    for module in imported_modules(text):
        assert module.partition(".")[0] in {
            "mindspore",
            "numpy",
            "math",
            "functools",
            *sys.stdlib_module_names,
        }
    assert "migrate." not in text.replace("ms_migrate", "")


def test_every_name_of_the_helper_module_exists(port_files) -> None:
    tree = port_files(
        {
            "a.py": "from torch import nn\nx = [nn.BatchNorm2d, nn.Conv2d, nn.Dropout2d]\n",
            "b.py": "import torch\n\ndef f(x: torch.Tensor):\n    return x.topk(3), torch.unique(x)\n",  # noqa: E501
        },
        ".",
    )
    (text,) = tree.helpers.values()
    used = {
        node.attr
        for ported in tree.files.values()
        for node in ast.walk(ast.parse(ported.text))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "helpers"
    }
    assert used
    assert used <= names_defined(text)


def test_an_earlier_port_keeps_its_helpers(tmp_path) -> None:
    """Files ported one after the other into one place share a helper module."""
    (tmp_path / "a.py").write_text("import torch.nn as nn\nup = nn.Upsample(scale_factor=2)\n")
    (tmp_path / "b.py").write_text(
        "import torch\n\n\ndef best(x: torch.Tensor):\n    return torch.topk(x, 2)\n"
    )
    out = tmp_path / "out"
    assert main(["port", str(tmp_path / "a.py"), "-o", str(out), "--quiet"]) == 0
    assert main(["port", str(tmp_path / "b.py"), "-o", str(out), "--quiet", "--force"]) == 0
    text = (out / "ms_migrate_helpers.py").read_text()
    assert "class Upsample" in text
    assert "def topk" in text


def test_a_forward_in_a_file_that_never_names_torch(port_files) -> None:
    tree = port_files(
        {
            "pkg/__init__.py": "",
            "pkg/base.py": "from torch import nn\n\n\nclass Base(nn.Module):\n    pass\n",
            "pkg/net.py": "from .base import Base\n\n\nclass Net(Base):\n"
            "    def forward(self, x):\n        return self.layer(x)\n",
        },
        "pkg",
    )
    texts = {path.name: ported.text for path, ported in tree.files.items()}
    assert "def construct(self, x):" in texts["net.py"]


def test_an_accelerator_s_backward_is_its_own_method(port_files) -> None:
    """Clipping and stepping in other functions take the gradients at the parameters."""
    tree = port_files(
        {
            "project/fabric.py": """\
                import torch


                class Fabric:
                    def backward(self, loss):
                        loss.backward()

                    def clip(self, module):
                        return torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)

                    def step(self, optimizer):
                        optimizer.step()
                """,
            "project/loop.py": """\
                import torch


                class Trainer:
                    def __init__(self, fabric):
                        self.fabric = fabric

                    def epoch(self, task, batches):
                        for batch in batches:
                            loss = task.loss(torch.stack(batch))
                            self.fabric.backward(loss / 2)
                            self.fabric.step(self.optimizer)
                """,
        },
        "project",
    )
    texts = {path.name: ported.text for path, ported in tree.files.items()}
    assert "helpers.backward(loss)" in texts["fabric.py"]
    assert "return helpers.clip_grad_norm_(helpers.parameters(module), 1.0)" in texts["fabric.py"]
    kept = "optimizer(helpers.ParameterGradients(optimizer.parameters).values)"
    assert kept in texts["fabric.py"]
    assert "            self.fabric.backward(loss / 2)" in texts["loop.py"]
