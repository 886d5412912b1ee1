"""Modules become Cells: classes, containers, parameters, initialisation, modes."""

from __future__ import annotations

import re
import textwrap

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def ported_class(port, source: str) -> str:
    """The text of the ported class alone, and nothing left to do."""
    ported = port(HEAD + textwrap.dedent(source))
    assert ported.findings == []
    return ported.text[ported.text.index("class ") :]


def test_module_to_cell(port) -> None:
    assert ported_class(
        port,
        '''\
        class Net(nn.Module):
            """A net."""

            def __init__(self, width):
                super(Net, self).__init__()
                self.fc = nn.Linear(width, 10, bias=False)  # the head

            def forward(self, x):
                # flatten first
                x = x.view(x.size(0), -1)
                return F.relu(self.fc(x))
        ''',
    ) == textwrap.dedent(
        '''\
        class Net(nn.Cell):
            """A net."""

            def __init__(self, width):
                super(Net, self).__init__()
                self.fc = nn.Dense(width, 10, has_bias=False)  # the head

            def construct(self, x):
                # flatten first
                x = x.view(x.shape[0], -1)
                return ops.relu(self.fc(x))
        '''
    )


def test_calls_of_forward(port) -> None:
    text = ported_class(
        port,
        """\
        class Net(nn.Linear):
            def forward(self, x):
                return super().forward(x) + self.forward(x)

            def both(self, other: nn.Module, x):
                return other.forward(x)
        """,
    )
    assert "super(Net, self).construct(x) + self.construct(x)" in text
    assert "other.construct(x)" in text
    assert "forward" not in text


def test_forward_of_something_else_stays(port) -> None:
    ported = port(
        """\
        import torch.nn as nn

        class Robot:
            def forward(self, steps):
                return steps

        def walk(robot: Robot):
            return robot.forward(3)
        """
    )
    assert "def forward(self, steps)" in ported.text
    assert "robot.forward(3)" in ported.text


def test_global_pool_stays_a_child(port) -> None:
    text = ported_class(
        port,
        """\
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.pool = nn.AdaptiveAvgPool2d((1, 1))

            def forward(self, x):
                return torch.flatten(self.pool(x), 1)
        """,
    )
    assert "self.pool = helpers.GlobalAvgPool2d()" in text
    assert "ops.flatten(self.pool(x), start_dim=1)" in text


def test_class_passed_as_a_value_takes_torchs_arguments(port) -> None:
    ported = port(
        """\
        from functools import partial
        import torch.nn as nn

        def block(width, norm_layer=nn.BatchNorm2d, act=nn.ReLU):
            return nn.Sequential(norm_layer(width, eps=1e-3, momentum=0.01), act(inplace=True))

        made = block(8, norm_layer=partial(nn.BatchNorm2d, eps=0.001))
        """
    )
    assert "norm_layer=helpers.BatchNorm2d, act=helpers.ReLU" in ported.text
    assert "norm_layer(width, eps=1e-3, momentum=0.01), act(inplace=True)" in ported.text
    assert "partial(helpers.BatchNorm2d, eps=0.001)" in ported.text
    assert ported.findings == []


def test_isinstance_keeps_the_plain_class(port) -> None:
    ported = port(
        """\
        import torch.nn as nn

        def count(model: nn.Module):
            return sum(isinstance(m, (nn.Conv2d, nn.Linear)) for m in model.modules())
        """
    )
    assert "isinstance(m, (nn.Conv2d, nn.Dense))" in ported.text


def test_init_loops_in_every_usual_spelling(port) -> None:
    text = ported_class(
        port,
        """\
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 8, 3)
                for m in self.modules():
                    if isinstance(m, nn.Conv2d):
                        nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                    elif isinstance(m, nn.BatchNorm2d):
                        m.weight.data.fill_(1)
                        m.bias.data.zero_()
                    elif isinstance(m, nn.Linear):
                        nn.init.constant_(m.bias, 0)
                with torch.no_grad():
                    self.conv.weight.normal_(0, 0.01)
        """,
    )
    assert "torch" not in text and "no_grad" not in text
    assert re.search(r"m\.weight\.set_data\(\s*initializer\(\s*HeNormal\(", text)
    assert "ops.assign(m.gamma, " in text
    assert "ops.assign(m.beta, " in text
    assert "m.bias.set_data(initializer(0, " in text
    assert re.search(r"ops\.assign\(\s*self\.conv\.weight,", text)


def test_in_place_operations_rebind(port) -> None:
    ported = port(
        """\
        import torch

        def f(x: torch.Tensor, y: torch.Tensor):
            x.add_(y)
            x.relu_().mul_(2)
            x[0].zero_()
            return x
        """
    )
    body = ported.text[ported.text.index("def f") :]
    assert "    x = " in body
    assert "x[0] = " in body
    assert "add_(" not in body and "relu_(" not in body and "zero_(" not in body


def test_in_place_change_that_an_alias_sees_rebinds_the_alias(port) -> None:
    ported = port(
        """\
        import torch

        def f(x: torch.Tensor):
            y = x
            x.add_(1)
            return y
        """
    )
    assert not ported.findings
    assert "x = y = x.add(1)" in ported.text


def test_devices_vanish(port) -> None:
    ported = port(
        """\
        import torch
        import torch.nn as nn

        def prepare(model: nn.Module, x: torch.Tensor):
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            model = model.to(device)
            x = x.to(device, non_blocking=True).cuda()
            return model(x)
        """
    )
    for word in ("non_blocking", ".to(", ".cuda("):
        assert word not in ported.text
    assert "return model(x)" in ported.text


def test_no_grad_blocks_are_unwrapped_with_their_comments(port) -> None:
    ported = port(
        """\
        import torch

        def f(x: torch.Tensor):
            # before
            with torch.no_grad():  # on the line
                # inside
                y = x + 1
                # at the end
            return y
        """
    )
    body = ported.text[ported.text.index("def f") :]
    for comment in ("# before", "# on the line", "# inside", "# at the end"):
        assert comment in body
    assert "    y = ops.stop_gradient(x + 1)" in body and "with" not in body


def test_scripting_branches_are_decided(port) -> None:
    ported = port(
        """\
        import torch

        def f(x: torch.Tensor):
            if torch.jit.is_scripting():
                return x
            else:
                # eager
                return x + 1
        """
    )
    assert "is_scripting" not in ported.text
    assert "    # eager\n    return x + 1\n" in ported.text


def test_unknown_receiver_is_left_with_a_marker(port) -> None:
    ported = port("import torch\n\n\ndef f(thing):\n    return thing.size()\n")
    assert "    # ms-migrate: MS307" in ported.text
    assert "return thing.size()" in ported.text


def test_comments_inside_calls_stay(port) -> None:
    ported = port(
        """\
        import torch.nn as nn

        layer = nn.Conv2d(
            3,  # colours
            64,
            kernel_size=3,  # small
            bias=False,  # the norm has one
            # nothing follows
        )
        """
    )
    for comment in ("# colours", "# small", "# the norm has one", "# nothing follows"):
        assert comment in ported.text
    assert ported.findings == []


def test_markers_are_not_repeated(port) -> None:
    first = port("import torch\n\nx = torch.fx.symbolic_trace(None)\n")
    second = port(first.text)
    assert second.text == first.text
    assert first.text.count("# ms-migrate:") == 1


def test_sizes_in_lists_become_what_mindspore_takes(port) -> None:
    text = ported_class(
        port,
        """\
        class Net(nn.Module):
            def __init__(self, strides: list[int], either: int | list[int]):
                super().__init__()
                windows = [s + 1 for s in strides]
                self.a = nn.Conv2d(3, 8, [3, 3], padding=[1, 1])
                self.b = nn.MaxPool3d(windows, stride=strides)
                self.c = nn.MaxPool1d([2], stride=(2,))
                self.d = nn.MaxPool2d(either)
                self.e = nn.Conv1d(3, 8, strides)
        """,
    )
    for line in (
        'self.a = nn.Conv2d(3, 8, (3, 3), pad_mode="pad", padding=1, has_bias=True)',
        "self.b = nn.MaxPool3d(tuple(windows), stride=tuple(strides))",
        "self.c = nn.MaxPool1d(2, stride=2)",
        "self.d = helpers.MaxPool2d(either)",
        "self.e = helpers.Conv1d(3, 8, strides)",
    ):
        assert line.replace('"', "'") in text.replace('"', "'"), text


def test_a_tensor_is_asked_for_its_gradient_only_where_a_checkpoint_hangs_on_it(port) -> None:
    source = HEAD + textwrap.dedent("""\
        import torch.utils.checkpoint as cp


        class Block(nn.Module):
            def body(self, x):
                return F.relu(x)

            def forward(self, x):
                if self.with_cp and x.requires_grad:
                    x = cp.checkpoint(self.body, x)
                else:
                    x = self.body(x)
                return cp.checkpoint(self.body, x) if x.requires_grad and self.with_cp else x
        """)
    ported = port(source)
    assert "if self.with_cp and self.training:" in ported.text
    assert "if self.training and self.with_cp else x" in ported.text
    assert not ported.findings
    other = port(source.replace("x = cp.checkpoint(self.body, x)", "x = x * 2"))
    assert [finding.api for finding in other.findings] == ["torch.Tensor.requires_grad"]
