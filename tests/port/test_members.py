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
    assert "ops.assign(layer.weight, v)" in text
    assert "ops.assign(layer.bias, ops.zeros_like(layer.bias))" in text
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
        ("torch.flatten(x, 1)", "mint.flatten(x, start_dim=1)"),
        ("torch.zeros(2, 3, device='cpu')", "mint.zeros((2, 3))"),
        ("x.permute(1, 0)", "mint.permute(x, (1, 0))"),
        ("x.where(x > 0, x)", "mint.where(x > 0, x, x)"),
        ("torch.squeeze(x)", "mint.squeeze(x, dim=())"),
        ("nn.ReLU(inplace=True)", "mint.nn.ReLU()"),
        ("torch.std(x, 1, unbiased=False)", "helpers.std(x"),  # mint's has no such parameter
    ],
)
def test_mint_takes_torch_arguments_as_far_as_it_has_them(port, before: str, after: str) -> None:
    text = port_text(port, f"def f(x: torch.Tensor):\n    return {before}\n", mint=True)
    assert after in text
    assert "device" not in text


def test_mint_collectives_are_not_bound_to_a_name(port) -> None:
    """mint.distributed.all_reduce changes its argument and gives nothing back."""
    body = "import torch.distributed as dist\ndef f(x: torch.Tensor):\n    dist.all_reduce(x)\n"
    text = port_text(port, body, mint=True)
    assert "helpers.set_value(x, helpers.all_reduce(x))" in text


def test_mint_layers_take_new_settings_as_torch_does(port) -> None:
    """Their construct reads self.stride and self.eps; a classic layer has handed them on."""
    lines = "conv.stride = (2, 2)\n    norm.eps = 1e-3\n"
    text = port_text(port, f"def f(conv: nn.Conv2d, norm: nn.BatchNorm2d):\n    {lines}", mint=True)
    assert "conv.stride = (2, 2)" in text and "norm.eps = 1e-3" in text


def test_mint_classes_name_their_parameters_as_torch_does(port) -> None:
    text = port_text(port, "def f(norm: nn.BatchNorm2d):\n    return norm.weight\n", mint=True)
    assert "return norm.weight" in text


def test_a_method_that_is_passed_on_and_has_no_counterpart_is_reported(port) -> None:
    ported = port(PRELUDE + "def f(x: torch.Tensor):\n    make = x.new\n    return make(3)\n")
    assert [finding.code for finding in ported.findings] == ["MS311"]
    assert "make = x.new" in ported.text


def test_strings_that_come_into_an_f_string_get_the_other_quotes(port) -> None:
    text = port_text(port, 'def f():\n    return f"on {torch.cuda.is_available()}", "x"\n')
    assert """f"on {mindspore.get_context('device_target') != 'CPU'}\"""" in text


def test_only_parameters_say_whether_they_need_a_gradient(port) -> None:
    """Parameters keep the question, also those that a lambda is given; a tensor has no answer."""
    source = """\
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(2, 2)
                self.fc.weight.requires_grad = False
                self.free = list(filter(lambda p: p.requires_grad, self.parameters()))

            def forward(self, x):
                return self.fc(x) if x.requires_grad else x

        def frozen(params):
            return [p for p in params if not p.requires_grad]
        """
    result = port(source)
    assert [(f.code, f.line) for f in result.findings] == [("MS301", 12)]
    assert "self.fc.weight.requires_grad = False" in result.text


def test_a_member_that_tensors_lack_is_somebody_elses(port) -> None:
    source = """\
        import torch
        from collections import namedtuple

        Batch = namedtuple("Batch", "images labels")

        def unpack(batch: torch.Tensor):
            return batch.images if isinstance(batch, Batch) else batch
        """
    result = port(source)
    assert not result.findings
    assert "return batch.images if" in result.text


def test_what_a_comparison_gives_is_no_size(port) -> None:
    """`torch.Tensor(done == 1)`: the operands may be arrays, and then they are the data."""
    result = port("import torch\n\n\ndef f(done):\n    return torch.Tensor(done == 1)\n")
    assert not result.findings
    assert "return Tensor(done == 1, mindspore.float32)" in result.text


def test_children_of_whatever_has_them(port) -> None:
    text = port(
        """
        import torch.nn as nn

        def names(thing, deep):
            return [name for part in thing._modules.values() for name in part._modules] + deep[0]
        """
    ).text
    assert "for part in thing._cells.values() for name in part._cells]" in text
