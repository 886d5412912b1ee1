"""Names that are given a value: what MindSpore reads by a call stays a place to write to."""

from __future__ import annotations

import pytest

HEAD = "import torch\nfrom torch import nn\n\n\n"


def test_an_epoch_is_set_where_mindspore_counts_it(port) -> None:
    ported = port(
        f"{HEAD}def resume(optimizer, state):\n"
        "    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)\n"
        "    schedule.last_epoch = state['epoch']\n"
        "    return schedule.last_epoch\n"
    )
    assert not ported.findings
    assert "helpers.set_last_epoch(schedule, state['epoch'])" in ported.text
    assert "return int(schedule.last_epoch)" in ported.text


def test_what_is_computed_cannot_be_given_a_value(port) -> None:
    ported = port(
        f"{HEAD}def resume(optimizer):\n"
        "    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)\n"
        "    schedule.base_lrs = [0.1]\n"
        "    schedule.last_epoch += 1\n"
    )
    assert [finding.code for finding in ported.findings] == ["MS314", "MS314"]
    assert "schedule.base_lrs = [0.1]" in ported.text
    assert "schedule.last_epoch += 1" in ported.text


def test_settings_of_layers_stay_names(port) -> None:
    ported = port(
        f"{HEAD}class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.conv = nn.Conv1d(3, 3, 3)\n"
        "        self.conv.padding = 1\n"
        "        self.conv.padding, self.name = 1, 'a'\n"
    )
    assert [finding.code for finding in ported.findings] == ["MS314", "MS314"]
    assert "self.conv.padding = 1" in ported.text
    assert "self.conv.padding, self.name = 1, 'a'" in ported.text


def test_a_name_that_holds_a_parameter_or_a_computed_tensor(port) -> None:
    """ops.assign to what was computed would lose the gradient of the new value."""
    ported = port(
        f"{HEAD}def cast(x, double=False):\n"
        "    return x.double() if double else x\n\n\n"
        "class Density(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.w = nn.Parameter(torch.ones(3))\n\n"
        "    def forward(self, x):\n"
        "        w = cast(self.w)\n"
        "        density = cast(torch.zeros(3))\n"
        "        density.add_(x * w)\n"
        "        return density\n"
    )
    assert not ported.findings
    assert "density = helpers.changed_in_place(density, density.add(x * w))" in ported.text


def test_a_step_whose_other_half_is_recorded(port) -> None:
    """The first backward() is refused, and the second shared its gradients with it."""
    ported = port(
        f"{HEAD}class Trainer:\n"
        "    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer):\n"
        "        self.model, self.optimizer = model, optimizer\n\n"
        "    def step(self, batches, scale):\n"
        "        self.optimizer.zero_grad()\n"
        "        for x in batches:\n"
        "            loss = self.model(x).sum()\n"
        "            if scale:\n"
        "                with scale(loss) as scaled:\n"
        "                    scaled.backward()\n"
        "            else:\n"
        "                loss.backward()\n"
        "        self.optimizer.step()\n"
    )
    assert "MS312" not in [finding.code for finding in ported.findings]


@pytest.mark.parametrize(
    "made",
    [
        "dict(ema.named_parameters())",
        "OrderedDict(ema.named_parameters())",
        "{n: p for n, p in ema.named_parameters()}",
        "dict(dict(ema.named_parameters()))",
    ],
)
def test_parameters_that_a_dict_holds_change_themselves(port, made) -> None:
    text = port(
        f"""
        import torch
        from collections import OrderedDict

        @torch.no_grad()
        def update(ema, model, decay):
            params = {made}
            for n, p in model.named_parameters():
                params[n].mul_(decay).add_(p.data, alpha=1 - decay)
        """
    ).text
    assert "ops.assign(params[n], params[n].mul(decay).add(p, alpha=1 - decay))" in text
    assert "params[n] =" not in text


def test_an_item_of_what_an_object_holds_changes_itself(port) -> None:
    text = port(
        """
        import torch

        class Average:
            def __init__(self, model: torch.nn.Module):
                self.buffers = dict(model.named_buffers())

            @torch.no_grad()
            def pull(self, other: torch.nn.Module):
                for n, b in other.named_buffers():
                    self.buffers[n].copy_(b)
        """
    ).text
    assert "helpers.set_value(" in text and "self.buffers[n] =" not in text


def test_statistics_of_something_unknown_have_torch_s_name_or_mindspore_s(port) -> None:
    text = port("import torch\n\ndef f(pair):\n    return pair.target[1].running_mean\n").text
    assert "helpers.running_mean_of(pair.target[1])" in text
    own = port(
        "import torch\n\nclass R:\n    def f(self):\n        self.running_mean = 1\n"
        "        return self.running_mean\n"
    ).text
    assert "running_mean_of" not in own
