"""Porting the port's own output changes nothing, and loses none of its helpers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.emit.existing_helpers import with_helpers
from migrate.emit.used_helpers import used_helpers
from tests.port.conftest import Port, PortTree

# Some of it has no counterpart, so torch stays imported and every file meets it again.
TREE = {
    "pkg/__init__.py": "",
    "pkg/net.py": """
        import torch
        from torch import nn
        from .tools import masked, accuracy

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 2)
                self.up = nn.Upsample(scale_factor=2)

            def forward(self, x):
                total = torch.zeros(4)
                total += x.sum(0)
                drawn = torch.binomial(total, x)
                return masked(self.fc(drawn.float()), x.size(0))
        """,
    "pkg/tools.py": """
        def masked(x, n):
            return x.masked_fill(x > n, 0).float()

        def accuracy(out, y):
            return (out.topk(1)[1] == y).float().mean().item()
        """,
    "pkg/train.py": """
        import torch
        from torch.nn import functional as F
        from .net import Net

        def train(batches, resume):
            net = Net()
            optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
            scaler = torch.amp.GradScaler()
            if resume:
                net.load_state_dict(torch.load(resume))
            for x, y in batches:
                optimizer.zero_grad()
                loss = F.cross_entropy(net(x), y)
                loss.backward()
                optimizer.step()
            torch.binomial(loss, loss)
            return {"net": net.state_dict(), "loss": loss.item()}
        """,
}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_porting_the_output_again_changes_nothing(port_files: PortTree, tmp_path: Path) -> None:
    port_files(TREE, "pkg")
    assert main(["port", str(tmp_path / "pkg"), "-o", str(tmp_path / "out")]) == 1
    first = contents(tmp_path / "out")
    assert b"torch.binomial" in first["net.py"] and b"mindspore" in first["net.py"]
    assert "ms_migrate_helpers.py" in first
    assert main(["port", str(tmp_path / "out"), "--in-place", "--force"]) == 1
    assert contents(tmp_path / "out") == first
    assert main(["port", str(tmp_path / "out"), "-o", str(tmp_path / "twice")]) == 1
    assert contents(tmp_path / "twice") == first


def test_new_torch_code_in_a_ported_tree_keeps_the_earlier_helpers(
    port_files: PortTree, tmp_path: Path
) -> None:
    port_files(TREE, "pkg")
    out = tmp_path / "out"
    main(["port", str(tmp_path / "pkg"), "-o", str(out)])
    module = out / "ms_migrate_helpers.py"
    module.write_text(module.read_text() + "\n\nEDITED = 'by hand'\n")
    (out / "new.py").write_text("import torch\n\n\ndef f(x):\n    return torch.nn.Upsample(2)\n")
    (out / "more.py").write_text("import torch\n\nx = torch.rand(2).bernoulli_()\n")
    main(["port", str(out), "--in-place", "--force"])
    defined = {
        name
        for node in ast.parse(module.read_text()).body
        for name in ({node.name} if isinstance(node, ast.FunctionDef | ast.ClassDef) else set())
    }
    assert "EDITED = 'by hand'" in module.read_text()
    used = set()
    for path in out.glob("*.py"):
        used |= used_helpers(ast.parse(path.read_text())) if path != module else set()
    assert used and used <= defined
    assert "torch" not in (out / "new.py").read_text()


def test_a_helper_module_grows_by_what_it_lacks() -> None:
    old = (
        '"""Doc."""\n\nimport numpy as np\nfrom mindspore import Tensor\n'
        "\n\ndef f():\n    return 1\n"
    )
    new = (
        '"""Doc."""\n\nimport math\nfrom mindspore import Tensor, ops\n'
        "\n\ndef f():\n    return 2\n"
        "\n\n# Why.\nLIMIT: int = 3\n\n\n@staticmethod\ndef g():\n    return ops.ones(LIMIT)\n"
    )
    grown = with_helpers(old, new)
    assert "return 1" in grown and "return 2" not in grown
    assert "import numpy as np\nfrom mindspore import Tensor\nimport math\n" in grown
    assert "from mindspore import ops\n" in grown and "# Why.\nLIMIT: int = 3\n" in grown
    assert grown.endswith("@staticmethod\ndef g():\n    return ops.ones(LIMIT)\n")
    assert with_helpers(grown, new) == grown
    assert with_helpers("def broken(:\n", new) == "def broken(:\n"


@pytest.mark.parametrize(
    "line",
    [
        "import oneflow as flow\nw = flow.zeros(3).uniform_(0, 1)",
        "import jax.numpy as jnp\nw = jnp.ones(3)\nw = w.at[0].set(1).clamp_min(0).unsqueeze(0)",
        "import tensorflow as tf\n(tf.ones(2) + 1).numel()",
        "from mindspore import ops\nfor p in ops.split(x, 2):\n    p.masked_fill_(p > 1, 0)",
        "import paddle\ndef f(d: dict[str, paddle.Tensor]):\n"
        "    return [v.detach().cpu().numpy() for k, v in d.items()]",
        "import jax\ndef f(x: jax.Array | None):\n    return x.clone().unsqueeze(0)",
        "import paddle\na, b = paddle.ones(2)[0], -paddle.ones(2)\na.clamp_(0)\nb.zero_()",
    ],
)
def test_what_another_framework_made_is_not_torchs(port: Port, line: str) -> None:
    result = port(f"import torch\n{line}\ny = torch.relu(torch.ones(2))\n")
    after = line.partition("\n")[2]
    assert after in result.text and not result.findings
    assert "ops.relu" in result.text


def test_a_call_of_what_is_no_method_in_torch_is_somebody_elses(port: Port) -> None:
    lines = "def f(node):\n    return node.is_leaf() or node.requires_grad() or node.shape()\n"
    result = port(f"import torch\n\ny = torch.relu(torch.ones(2))\n\n\n{lines}")
    assert lines in result.text and not result.findings


def test_what_may_be_torchs_on_another_way_is_still_taken_for_it(port: Port) -> None:
    result = port(
        """
        import torch
        import oneflow as flow

        def f(x, flag):
            if flag:
                x = flow.relu(x)
            return x.clamp_min(0)
        """
    )
    assert "clamp(min=0)" in result.text


@pytest.mark.parametrize("edited", [False, True])
def test_pieces_do_more_when_new_files_ask_for_it(tmp_path: Path, edited: bool) -> None:
    first = "import torch.nn.functional as F\n\ndef pool(x):\n    return F.max_pool2d(x, 2)\n"
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(first)
    out = tmp_path / "out"
    main(["port", str(tmp_path / "src"), "-o", str(out), "--quiet"])
    module = out / "ms_migrate_helpers.py"
    assert "def max_pool2d(input, kernel_size):" in module.read_text()
    if edited:
        text = module.read_text().replace('"""torch\'s max_pool2d."""', '"""Mine."""')
        module.write_text(text)
    (out / "b.py").write_text(first.replace("2)", "2, padding=1, return_indices=True)"))
    main(["port", str(out), "--in-place", "--force", "--quiet"])
    text = module.read_text()
    assert ("def max_pool2d(input, kernel_size):" in text) is edited
    assert "_max_positions" in text
    assert ("Mine." in text) is edited
    compile(text, "helpers", "exec")


def test_a_module_that_was_left_stays_left(port: Port) -> None:
    """Its uses were ported, so it is read nowhere any more: no reason to take it for another."""
    again = port("import torch\nfrom mindspore import ops\n\nlibrary = torch\nx = ops.ones(2)\n")
    assert "library = torch\n" in again.text
