"""Members of tensors and modules, settings, formats: what a reference becomes where it stands."""

from __future__ import annotations

import pytest

PRELUDE = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def port_text(port, body: str, **options: object) -> str:
    result = port(PRELUDE + body, **options)
    compile(result.text, "ported.py", "exec")
    assert not result.findings, result.findings
    return result.text


def test_a_member_is_chosen_by_type_where_names_differ(port) -> None:
    text = port_text(
        port,
        "def f(net: nn.Module):\n"
        "    for m in net.modules():\n"
        "        if isinstance(m, (nn.Conv2d, nn.BatchNorm2d)):\n"
        "            print(m.weight)\n",
    )
    assert "print(m.weight if isinstance(m, nn.Conv2d) else m.gamma)" in text


def test_one_name_for_all_types_needs_no_choice(port) -> None:
    text = port_text(
        port,
        "def f(net: nn.Module):\n"
        "    for m in net.modules():\n"
        "        if isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):\n"
        "            print(m.weight)\n",
    )
    assert "print(m.gamma)" in text


def test_settings_of_absent_libraries_go(port) -> None:
    text = port_text(port, "torch.backends.cudnn.benchmark = True\nx = 1\n")
    assert "cudnn" not in text
    assert text.endswith("x = 1\n")


def test_a_formatted_tensor_gives_its_item(port) -> None:
    text = port_text(
        port, 'def f(x: torch.Tensor):\n    print(f"{x.mean():.3f} {x} {len(x):>3}")\n'
    )
    assert 'f"{x.mean().item():.3f} {x} {len(x):>3}"' in text


def test_data_is_set_not_assigned(port) -> None:
    text = port_text(
        port,
        "def f(layer: nn.Linear, v: torch.Tensor):\n"
        "    layer.weight.data = v\n"
        "    layer.weight.data.copy_(v)\n"
        "    layer.bias.data.zero_()\n",
    )
    assert "layer.weight.set_data(v)" in text
    assert "layer.bias.set_data(ops.zeros_like(layer.bias))" in text
    assert "torch" not in text


def test_numpy_words_for_dimensions(port) -> None:
    text = port_text(port, "def f(x: torch.Tensor):\n    return x.sum(axis=1, keepdims=True)\n")
    assert "axis=1" in text or "dim=1" in text
    assert "keepdims=True" in text or "keepdim=True" in text or "keep_dims=True" in text


def test_named_results_become_items(port) -> None:
    text = port_text(port, "def f(x: torch.Tensor):\n    return x.max(dim=1).indices\n")
    assert text.rstrip().endswith("[1]")


def test_a_known_input_size_makes_adaptive_pooling_plain(port) -> None:
    body = (
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(2))\n"
        "        self.pool = nn.AdaptiveAvgPool2d((7, 7))\n"
        "\n"
        "    def forward(self, x):\n"
        "        x = self.stem(x)\n"
        "        return self.pool(x)\n"
    )
    assert "nn.AvgPool2d(kernel_size=8, stride=8)" in port_text(
        port, body, input_shapes={"x": (1, 3, 224, 224)}
    )
    # 225 does not divide, and without a shape nothing is known
    assert "AdaptiveAvgPool2d" in port_text(port, body, input_shapes={"x": (1, 3, 230, 230)})
    assert "AdaptiveAvgPool2d" in port_text(port, body)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("nn.Linear(3, 4, bias=False)", "mint.nn.Linear(3, 4, bias=False)"),
        ("nn.BatchNorm2d(8, momentum=0.01)", "mint.nn.BatchNorm2d(8, momentum=0.01)"),
        ("torch.flatten(x, 1)", "mint.flatten(x, 1)"),
        ("torch.zeros(2, 3, device='cpu')", "zeros"),
    ],
)
def test_mint_keeps_torch_arguments(port, before: str, after: str) -> None:
    text = port_text(port, f"def f(x: torch.Tensor):\n    return {before}\n", mint=True)
    assert after in text
    assert "device" not in text


def test_mint_classes_name_their_parameters_as_torch_does(port) -> None:
    text = port_text(port, "def f(norm: nn.BatchNorm2d):\n    return norm.weight\n", mint=True)
    assert "return norm.weight" in text
