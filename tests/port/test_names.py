"""Names the user took already, names that go and names that come: nothing undefined, nothing
unused.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest


def ruff_findings(text: str, path: Path) -> list[str]:
    """Undefined and unused names, and nothing else."""
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ruff",
            "check",
            "--isolated",
            "--select",
            "F",
            "--output-format",
            "concise",
            str(path),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in done.stdout.splitlines() if str(path.name) in line]


@pytest.mark.parametrize(
    "name", ["ops", "nn", "Tensor", "helpers", "mindspore", "np", "initializer"]
)
def test_a_variable_of_the_user_keeps_its_name(port, tmp_path: Path, name: str) -> None:
    source = f"""\
        import torch

        def f(x: torch.Tensor, {name}):
            y = torch.zeros(3)
            torch.nn.init.normal_(y)
            z = x.topk(2)
            layer = torch.nn.Linear(2, 3)
            t = torch.tensor([1.0])
            return {name}(x, y, z, layer, t)
        """
    ported = port(source)
    compile(ported.text, "ported.py", "exec")
    assert f"return {name}(x, y, z, layer, t)" in ported.text
    function = next(
        node for node in ast.parse(ported.text).body if isinstance(node, ast.FunctionDef)
    )
    assert [argument.arg for argument in function.args.args] == ["x", name]
    # The parameter is used as the parameter only: no MindSpore name hides behind it.
    owners = [
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    ]
    assert name not in owners
    assert ruff_findings(ported.text, tmp_path / "ported.py") == []


def test_a_function_of_the_user_called_like_a_module(port, tmp_path: Path) -> None:
    ported = port(
        """\
        import torch

        def ops(x):
            return x

        y = ops(torch.cat([torch.ones(2), torch.ones(2)]))
        """
    )
    assert "def ops(x)" in ported.text
    assert ruff_findings(ported.text, tmp_path / "ported.py") == []


def test_unused_torch_imports_go(port) -> None:
    ported = port("import torch\nimport os\nfrom torch import nn\n\nprint(os.name)\n")
    assert ported.text == "import os\n\nprint(os.name)\n"


def test_imports_inside_functions(port, tmp_path: Path) -> None:
    ported = port(
        """\
        def f():
            import torch
            return torch.ones(2, 3)
        """
    )
    assert "torch" not in ported.text
    assert ruff_findings(ported.text, tmp_path / "ported.py") == []


def test_optional_import(port, tmp_path: Path) -> None:
    ported = port(
        """\
        try:
            import torch
        except ImportError:
            torch = None

        def f(x):
            return torch.relu(x)
        """
    )
    compile(ported.text, "ported.py", "exec")
    assert "ops.relu(x)" in ported.text


def test_future_import_and_docstring_stay_first(port) -> None:
    ported = port(
        '''\
        #!/usr/bin/env python
        """What it does."""

        from __future__ import annotations

        import torch

        x = torch.ones(2)
        '''
    )
    tree = ast.parse(ported.text)
    assert ast.get_docstring(tree) == "What it does."
    assert ported.text.startswith("#!/usr/bin/env python\n")
    compile(ported.text, "ported.py", "exec")


def test_all_lists_only_what_is_there(port, tmp_path: Path) -> None:
    ported = port(
        """\
        from torch import nn

        __all__ = ["Net"]

        class Net(nn.Module):
            pass
        """
    )
    assert '__all__ = ["Net"]' in ported.text
    assert ruff_findings(ported.text, tmp_path / "ported.py") == []


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ndevice = torch.device('cuda')\nx = torch.ones(2, device=device)\n",
        "import torch\nimport torch.nn.functional as F\n\ndef f(x: torch.Tensor):\n    return F.relu(x.cuda())\n",  # noqa: E501
        "import warnings\nimport torch\n\ndef f(x):\n    if torch.jit.is_scripting():\n        warnings.warn('s')\n    return x\n",  # noqa: E501
        "import torch\n\n@torch.jit.script\ndef f(x: torch.Tensor) -> 'torch.Tensor':\n    return x\n",  # noqa: E501
        "from typing import Optional\nfrom torch import Tensor, nn\n\nclass A(nn.Module):\n    def forward(self, x: Optional[Tensor] = None) -> Tensor:\n        return x\n",  # noqa: E501
        "import torch\n\ndef f(x: 'list[torch.Tensor]'):\n    return x\n",
    ],
)
def test_nothing_undefined_and_nothing_unused(port, tmp_path: Path, source: str) -> None:
    ported = port(source)
    assert ruff_findings(ported.text, tmp_path / "ported.py") == []
    assert "torch" not in ported.text


def test_what_a_row_states_in_every_call_is_imported(port) -> None:
    ported = port("""\
        import torch

        def f():
            return torch.full((2,), True)
        """)
    assert "dtype=mindspore.bool_" in ported.text
    assert "import mindspore\n" in ported.text


def test_an_annotation_without_counterpart_is_quoted_as_a_whole(port) -> None:
    ported = port(
        """\
        from typing import Optional
        import torch
        from torch import nn
        from torch.jit import ScriptModule


        class Net(nn.Module):
            fused: torch.jit.Final[bool]

            def draw(self, g: Optional[ScriptModule] = None, h: ScriptModule | None = None):
                return g
        """
    )
    assert "fused: 'torch.jit.Final[bool]'" in ported.text
    assert "g: 'Optional[torch.jit.ScriptModule]' = None," in ported.text
    assert "h: 'torch.jit.ScriptModule | None' = None" in ported.text


def test_private_bases_of_losses(port) -> None:
    ported = port(
        """\
        from torch.nn.modules.loss import _WeightedLoss


        class Weighted(_WeightedLoss):
            def forward(self, x):
                return x * self.weight
        """
    )
    assert not ported.findings
    assert "class Weighted(helpers.WeightedLoss):" in ported.text
    assert "return x * self.weight" in ported.text


def test_letters_of_full_width_are_the_names_that_python_reads(port) -> None:
    ported = port("import torch\nx = torch.ｏｎｅｓ(3)\nz = ｔｏｒｃｈ.relu(x)\n")
    assert "x = ops.ones(3)\nz = ops.relu(x)\n" in ported.text
