"""Layers that a program looks for by class and then changes: initialisers, settings, freezing."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

import migrate.emit
from migrate.resolve.class_tests import LAYERS

HELPERS = Path(migrate.emit.__file__).parent / "helpers"

HEAD = "import torch\nfrom torch import nn\n\n\n"


def body(port, text: str) -> str:
    ported = port(HEAD + dedent(text).lstrip())
    assert not ported.findings, ported.findings
    return ported.text


@pytest.mark.parametrize(
    "test",
    [
        "isinstance(m, nn.BatchNorm2d)",
        "type(m) is nn.BatchNorm2d",
        "type(m) == nn.BatchNorm2d",
        "m.__class__ is nn.BatchNorm2d",
        "type(m) in (nn.BatchNorm2d, nn.GroupNorm)",
        "type(m) in [nn.BatchNorm2d]",
        "m.__class__.__name__ == 'BatchNorm2d'",
        "type(m).__name__ in ('BatchNorm2d', 'LayerNorm')",
        "m.__class__.__name__.find('BatchNorm2d') != -1",
        "'BatchNorm2d' in m.__class__.__name__",
        "m.__class__.__name__.startswith('BatchNorm2d')",
    ],
)
def test_a_norm_is_known_by_its_class(port, test: str) -> None:
    text = body(
        port,
        f"""
        def start(m):
            if {test}:
                nn.init.ones_(m.weight)
                m.bias.data.zero_()
        """,
    )
    assert "ops.assign(m.gamma, initializer(" in text
    assert "m.beta" in text
    assert "m.bias" not in text
    if test.startswith(("type(m) ", "m.__class__ ")):
        # Exactly this class: MindSpore's own, or the one with torch's arguments.
        assert " in (nn.BatchNorm2d, helpers.BatchNorm2d" in text


def test_private_bases_stand_for_their_classes(port) -> None:
    text = body(
        port,
        """
        def start(model):
            for m in model.modules():
                if isinstance(m, nn.modules.batchnorm._BatchNorm):
                    nn.init.ones_(m.weight)
        """,
    )
    assert "m.bn2d.gamma if isinstance(m, nn.BatchNorm3d) else m.gamma" in text


def test_a_class_name_is_asked_in_torch_words(port) -> None:
    text = body(
        port,
        """
        def start(m):
            name = m.__class__.__name__
            if name.find("Linear") != -1:
                nn.init.zeros_(m.bias)
        """,
    )
    assert "name = helpers.torch_class_name(m.__class__)" in text


def test_the_name_of_a_layer_s_class_is_torch_s_and_others_stay(port) -> None:
    text = body(
        port,
        """
        def show(error: Exception, m: nn.Module):
            print(error.__class__.__name__, type(m).__name__)
        """,
    )
    assert "print(error.__class__.__name__, helpers.torch_class_name(type(m)))" in text


def test_freezing_freezes(port) -> None:
    text = body(
        port,
        """
        def freeze(model):
            for p in model.parameters():
                p.requires_grad_(False)
        """,
    )
    assert "p.requires_grad = False" in text


def test_settings_that_count_are_written_so_that_they_count(port) -> None:
    text = body(
        port,
        """
        def tune(bn: nn.BatchNorm2d, conv: nn.Conv2d, drop: nn.Dropout):
            bn.momentum = 0.03
            conv.stride = (1, 1)
            drop.p = 0.1
        """,
    )
    assert "helpers.set_batch_norm(bn, momentum=0.03)" in text
    assert "helpers.set_conv2d(conv, stride=(1, 1))" in text
    assert "helpers.set_dropout(drop, 0.1)" in text


@pytest.mark.parametrize(
    "change", ["pool.stride = 1", "pool.ceil_mode = True", "bn.momentum *= 0.5", "bn.affine = True"]
)
def test_settings_that_no_longer_count_are_reported(port, change: str) -> None:
    ported = port(f"{HEAD}def tune(pool: nn.MaxPool2d, bn: nn.BatchNorm2d):\n    {change}\n")
    assert [finding.code for finding in ported.findings] == ["MS314"]


def test_elements_of_data_are_elements_of_the_parameter(port) -> None:
    text = body(
        port,
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 3)
                self.fc.weight.data[0] = 1
                self.fc.weight.data[1] += 2
                self.fc.bias.data[0].fill_(3)
                self.fc.bias.data *= 2
        """,
    )
    assert "self.fc.weight[0] = 1" in text
    assert "self.fc.weight[1] += 2" in text
    assert "self.fc.bias[0] = ops.full_like(self.fc.bias[0], 3)" in text
    assert "helpers.set_value(self.fc.bias, self.fc.bias * 2)" in text


def test_inverting_integers_is_no_logical_not(port) -> None:
    text = body(
        port,
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("bits", torch.tensor([1, 2]))

            def forward(self, x, mask):
                positive = x > 0
                return ~self.bits, ~positive, ~mask, ~(x == 0), ~x.long()
        """,
    )
    assert "return helpers.bitwise_not(self.bits), ~positive, ~mask, ~(x == 0), " in text
    assert "helpers.bitwise_not(x.long())" in text


def test_an_initialised_tensor_that_is_no_parameter_is_rebound(port) -> None:
    text = body(
        port,
        """
        def table(n: int):
            t = torch.empty(n, 4)
            nn.init.normal_(t, std=0.02)
            return t
        """,
    )
    assert "t = helpers.normal_(t, std=0.02)" in text


@pytest.mark.parametrize(
    "use", ["x.size(0)", "x.sum(dim=1)", "x.max(1, keepdim=True)", "x.detach()", "x.chunk(2, 1)"]
)
def test_the_way_a_method_is_called_tells_a_tensor(port, use: str) -> None:
    assert not port(f"{HEAD}def f(x):\n    return {use}\n").findings


def test_a_buffer_that_changes_becomes_a_parameter(port) -> None:
    text = body(
        port,
        """
        class Memory(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", torch.zeros(3))
                self.register_buffer("queue", torch.zeros(4, 3))
                self.register_buffer("fixed", torch.ones(3))
                self.queue[0] = 1

            def forward(self, x):
                self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
                self.queue[:, 1:2] = x[:4, 1:2]
                self.queue[0] += 1
                return x + self.fixed
        """,
    )
    assert 'self.mean = helpers.buffer(ops.zeros(3), "mean")' in text
    assert 'self.queue = helpers.buffer(ops.zeros((4, 3)), "queue")' in text
    assert 'self.register_buffer("fixed", ops.ones(3))' in text
    assert "        self.queue[0] = 1\n" in text
    lines = [line.strip() for line in text.splitlines()]
    start = lines.index("queue = self.queue.value().copy()")
    assert lines[start : start + 6] == [
        "queue = self.queue.value().copy()",
        "queue[:, 1:2] = x[:4, 1:2]",
        "self.queue = queue",
        "queue = self.queue.value().copy()",
        "queue[0] += 1",
        "self.queue = queue",
    ]


def test_a_parameter_replaced_from_outside_keeps_its_name(port) -> None:
    text = body(
        port,
        """
        def scale(layer: nn.Linear, factor: float):
            layer.weight = nn.Parameter(layer.weight * factor, requires_grad=False)
        """,
    )
    assert (
        "helpers.set_parameter(layer, 'weight', layer.weight * factor, requires_grad=False)" in text
    )


@pytest.mark.parametrize(
    ("index", "taken"),
    [
        (
            "x[..., ::2, 1::2]",
            "helpers.strided_slice(helpers.strided_slice(x, -2, None, None, 2), -1, 1, None, 2)",
        ),
        ("x[:, 0, ::3]", "helpers.strided_slice(x, 2, None, None, 3)[:, 0]"),
        ("x[:, None, 1:-1:2, 2]", "helpers.strided_slice(x, 1, 1, -1, 2)[:, None, :, 2]"),
        ("x[:, 1:3]", "x[:, 1:3]"),
        ("x.shape[::2]", "x.shape[::2]"),
    ],
)
def test_slices_with_a_step_are_gathered(port, index: str, taken: str) -> None:
    text = body(
        port,
        f"""
        class Net(nn.Module):
            def forward(self, x):
                return {index}
        """,
    )
    assert f"return {taken}\n" in text


def test_layers_that_change_their_input_change_it(port) -> None:
    text = body(
        port,
        """
        import torch.nn.functional as F

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.relu = nn.ReLU(inplace=True)
                self.start = nn.Sequential(nn.ReLU(True), nn.Conv2d(3, 3, 1))
                self.conv = nn.Conv2d(3, 3, 1)

            def forward(self, x):
                y = self.relu(x)
                y = y + x
                z = self.start(y) + F.leaky_relu(y, 0.1, inplace=True)
                w = self.conv(self.relu(z))
                return self.relu(w + z)
        """,
    )
    assert "y = x = self.relu(x)" in text
    assert "        z = self.relu(z)\n        w = self.conv(z)\n" in text


def test_another_name_of_a_changed_input_gets_the_new_value(port) -> None:
    ported = port(
        HEAD
        + dedent(
            """
            class Block(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.relu = nn.ReLU(inplace=True)

                def forward(self, x):
                    identity = x
                    x = self.relu(x)
                    return x + identity
            """
        )
    )
    assert not ported.findings
    assert "x = identity = self.relu(x)" in ported.text


def test_a_class_passed_on_is_found_whichever_it_is(port) -> None:
    text = body(
        port,
        """
        def bias(norm_layer=nn.BatchNorm2d):
            return norm_layer is not nn.BatchNorm2d
        """,
    )
    assert "return norm_layer not in (nn.BatchNorm2d, helpers.BatchNorm2d)" in text


def test_parameters_of_growing_containers_are_named_by_place(port) -> None:
    text = body(
        port,
        """
        class Heads(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.ModuleList()
                self.b = nn.ModuleList()
                for _ in range(2):
                    self.a.append(nn.Linear(2, 2))
                    self.b.append(nn.Linear(2, 2))
        """,
    )
    assert text.endswith("        helpers.name_parameters(self)\n")


def test_a_lambda_for_a_layer_gets_a_line(port) -> None:
    text = body(
        port,
        """
        class Lambda(nn.Module):
            def __init__(self, function):
                super().__init__()
                self.function = function

            def forward(self, x):
                return self.function(x)


        class Net(nn.Module):
            def __init__(self, function):
                super().__init__()
                self.double = Lambda(lambda x: x * 2)
        """,
    )
    assert "        function_ = lambda x: x * 2\n        self.double = Lambda(function_)\n" in text


def test_a_layer_of_unknown_class_is_asked_when_the_program_runs(port) -> None:
    text = body(
        port,
        """
        def start(layer: nn.Module, other):
            nn.init.ones_(layer.weight)
            nn.init.zeros_(other.bias)
            layer.weight = other.weight
        """,
    )
    assert "helpers.ones_(helpers.weight_of(layer))" in text
    assert "helpers.zeros_(helpers.bias_of(other))" in text
    assert "helpers.set_weight_of(layer, other.weight)" in text


def test_a_setting_of_any_layer_is_changed_so_that_it_counts(port) -> None:
    text = body(
        port,
        """
        def dilate(layers: nn.Module):
            for name, m in layers.named_modules():
                m.stride = (1, 1)
        """,
    )
    assert "helpers.change_setting(m, 'stride', (1, 1))" in text


def test_settings_changed_several_at_once_are_reported(port) -> None:
    ported = port(f"{HEAD}def dilate(m: nn.Module):\n    m.stride, m.padding = 1, 2\n")
    assert [finding.code for finding in ported.findings] == ["MS314", "MS314"]


def test_every_layer_that_mindspore_calls_otherwise_is_asked_for_in_torch_words(table) -> None:
    """The helper's names are those of the table's rows."""
    source = (HELPERS / "modules_classes.py").read_text()
    node = next(
        part.value
        for part in ast.parse(source).body
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == "_TORCH_NAMES"
    )
    known = ast.literal_eval(node)
    for name in LAYERS:
        entry = table.get(f"torch.nn.{name}")
        own = entry.main.mindspore.rpartition(".")[2] if entry and entry.main.mindspore else name
        assert known.get(own, own) == name, f"{own} is torch's {name}"


def test_parameters_are_drawn_anew(port) -> None:
    text = body(
        port,
        """
        class Own(nn.Linear):
            def reset_parameters(self):
                super().reset_parameters()
                nn.init.ones_(self.weight)


        def again(m):
            if isinstance(m, nn.Conv2d):
                m.reset_parameters()
        """,
    )
    assert "class Own(helpers.Linear):" in text
    assert "helpers.reset_parameters(super())" in text
    assert "helpers.reset_parameters(m)" in text


def test_a_dtype_that_is_handed_down_goes_to_the_layer(port) -> None:
    text = body(
        port,
        """
        def make(n, device=None, dtype=None):
            return nn.Linear(n, n, device=device, dtype=dtype), nn.Linear(n, n)
        """,
    )
    assert "return helpers.Linear(n, n, dtype=dtype), nn.Dense(n, n)" in text


def test_a_setting_of_a_layer_that_nobody_knows(port) -> None:
    """The head of a model from elsewhere: Dense has in_channels. Options keep their names."""
    result = port(
        "from torch import nn\nfrom zoo import build\n\nmodel = build()\n"
        "model.fc = nn.Linear(model.fc.in_features, 2)\n"
        "last = model.classifier[-1].in_features\nsize = args.embedding_dim\n"
    )
    assert "nn.Dense(helpers.setting_of(model.fc, 'in_features'), 2)" in result.text
    assert "helpers.setting_of(model.classifier[-1], 'in_features')" in result.text
    assert "size = args.embedding_dim" in result.text


def test_layers_are_numbered_anew_when_one_goes(port) -> None:
    text = port(
        """
        import torch.nn as nn

        def cut(backbone: nn.Sequential, layers: nn.ModuleList):
            del backbone[-1]
            del layers[0]
        """
    ).text
    assert "    helpers.delete_layer(backbone, -1)\n    del layers[0]\n" in text
