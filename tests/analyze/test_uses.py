"""Each use is counted once, at its place, with the verdict that its row and arguments give."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from migrate.analyze.model import Action, Analysis

Analysed = Callable[..., Analysis]

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def statuses(analysis: Analysis) -> dict[str, str]:
    return {row.api: row.status for row in analysis.operators if not row.unknown}


def actions(analysis: Analysis) -> dict[str, Action]:
    return {action.code: action for action in analysis.actions}


def test_places_are_line_and_character_column(analysed: Analysed) -> None:
    analysis = analysed(HEAD + "def f(x):\n    'é'; return torch.relu(x)\n")
    (row,) = analysis.operators
    (place,) = row.places
    assert (row.api, place.line, place.column, place.end_column) == ("torch.relu", 5, 17, 27)
    assert place.scope == "f"


def test_statuses_and_share(analysed: Analysed) -> None:
    analysis = analysed(
        HEAD
        + """
def f(x):
    torch.relu(x)
    torch.relu(x)
    torch.geqrf(x)
    torch.histc(x)
    torch.unheard_of(x)
"""
    )
    assert statuses(analysis) == {
        "torch.geqrf": "missing",
        "torch.histc": "risky",
        "torch.relu": "supported",
        "torch.unheard_of": "unlisted",
    }
    assert (analysis.uses, analysis.automatic, analysis.share) == (5, 2, 0.4)
    assert analysis.must_act


def test_a_program_that_ports_by_itself_asks_for_nothing(analysed: Analysed) -> None:
    analysis = analysed(HEAD + "y = torch.relu(torch.cat([x]))\n")
    assert analysis.share == 1
    assert not analysis.must_act
    assert analysis.actions == []


def test_missing_api_says_the_way_round(analysed: Analysed) -> None:
    action = actions(analysed(HEAD + "torch.geqrf(x)\n"))["MS301"]
    assert (action.title, action.why) == ("torch.geqrf", "no such kernel")
    assert action.step == "use mindspore.ops.qr"


def test_a_risky_class_is_no_risk_where_only_its_name_is_needed(analysed: Analysed) -> None:
    named = HEAD + "def f(x: torch.histc) -> None: ...\nisinstance(1, torch.histc)\n"
    assert analysed(named).actions == []
    assert "MS302" in actions(analysed(HEAD + "g = torch.histc\n"))
    assert "MS301" in actions(analysed(HEAD + "def f(x: torch.geqrf): ...\n"))


def test_actions_come_by_how_often_they_are_due(analysed: Analysed) -> None:
    source = HEAD + "torch.histc(x)\n" + "torch.geqrf(x)\n" * 3 + "torch.zzz(x)\n" * 2
    titles = [action.title for action in analysed(source).actions]
    assert titles == ["torch.geqrf", "torch.zzz", "torch.histc"]


def test_refused_argument_spoils_that_use_only(analysed: Analysed) -> None:
    analysis = analysed(
        HEAD
        + "nn.Conv2d(1, 2, 3)\n"
        + "nn.Conv2d(1, 2, 3, padding_mode='zeros')\n"
        + "nn.Conv2d(1, 2, 3, padding_mode='reflect')\n"
    )
    (row,) = analysis.operators
    assert (row.status, row.count, row.troubled) == ("rewritten", 3, 1)
    action = actions(analysis)["MS306"]
    assert action.why == "padding_mode='reflect': MindSpore pads with zeros only"
    assert [place.line for place in action.places] == [6]
    assert analysis.automatic == 2


def test_positional_arguments_are_bound_before_they_are_judged(analysed: Analysed) -> None:
    analysis = analysed(HEAD + "nn.Conv2d(1, 2, 3, 1, 0, 'reflect')\n")
    assert "padding_mode" in actions(analysis)["MS306"].why


def test_constants_outside_the_table_are_refused(analysed: Analysed) -> None:
    assert not analysed(HEAD + "nn.GELU('tanh')\n").actions
    assert not analysed(HEAD + "nn.GELU()\n").actions
    action = actions(analysed(HEAD + "nn.GELU(approximate=kind)\n"))["MS306"]
    assert "only 'none', 'tanh'" in action.why


def test_unknown_keyword_is_reported(analysed: Analysed) -> None:
    action = actions(analysed(HEAD + "nn.ReLU(inplaec=True)\n"))["MS309"]
    assert "do not fit" in action.why


def test_overload_is_chosen_by_type(analysed: Analysed) -> None:
    source = HEAD + "def f(x: torch.Tensor, y: torch.Tensor):\n    torch.max(x, {})\n"
    assert not analysed(source.format("1")).actions
    assert not analysed(source.format("y")).actions
    assert "type that is not known" in actions(analysed(source.format("z")))["MS310"].why
    assert "do not fit" in actions(analysed(source.format("1, 2, 3")))["MS309"].why
    assert not analysed(source.format("*y")).actions
    assert not analysed(source.format("axis=1")).actions


def test_a_helper_takes_what_the_direct_form_refuses(analysed: Analysed) -> None:
    assert not analysed(HEAD + "torch.resized(x, mode='odd')\n").actions
    assert not analysed(HEAD + "torch.twofold(x, mode='odd')\n").actions
    assert "only 'a'" in actions(analysed(HEAD + "torch.single(x, mode='odd')\n"))["MS306"].why


def test_defaults_are_compared_by_value(analysed: Analysed) -> None:
    assert not analysed(HEAD + 'nn.Conv2d(1, 2, 3, padding_mode="zeros")\n').actions
    assert not analysed(HEAD + 'nn.GELU("tanh")\n').actions


def test_device_uses_the_rows_platforms(analysed: Analysed) -> None:
    source = HEAD + "torch.sparse_only(x)\n"
    assert analysed(source).share == 1
    assert analysed(source, device="GPU").share == 1
    analysis = analysed(source, device="Ascend")
    assert analysis.share == 0
    assert "does not run on Ascend" in actions(analysis)["MS304"].why


def test_mode_separates_pynative_from_graph(analysed: Analysed) -> None:
    source = HEAD + "torch.eager_only(x)\n"
    assert analysed(source, mode="pynative").share == 1
    for mode in ("graph", "both"):
        assert "Graph mode" in actions(analysed(source, mode=mode))["MS305"].why


def test_unknown_receivers_count_neither_way(analysed: Analysed) -> None:
    analysis = analysed(HEAD + "def f(x):\n    torch.relu(torch.cat([1]))\n    return x.mul(3)\n")
    assert analysis.uses == 2
    assert [row.api for row in analysis.operators if row.unknown] == ["torch.Tensor.mul"]
    action = actions(analysis)["MS307"]
    assert (action.severity, action.count) == ("note", 1)
    assert not analysis.must_act


def test_a_member_that_tensors_lack_says_the_value_is_no_tensor(analysed: Analysed) -> None:
    analysis = analysed(HEAD + "def f(x: torch.Tensor):\n    return x.image_sizes\n")
    assert [row.api for row in analysis.operators if not row.unknown] == ["torch.Tensor"]
    assert not analysis.must_act


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("1", "ReduceMean over the last two axes"),
        ("(1, 1)", "ReduceMean over the last two axes"),
        ("7", "output 7x7: where every input's size is a known multiple"),
        ("(7, None)", "output 7xinput"),
        ("None", "changes nothing"),
        ("n", "not a literal"),
    ],
)
def test_adaptive_pooling_gets_the_advice_that_fits(
    analysed: Analysed, size: str, expected: str
) -> None:
    analysis = analysed(HEAD + f"nn.AdaptiveAvgPool2d({size})\n")
    action = actions(analysis)["MS308"]
    assert expected in action.why
    assert action.severity == "note" and not analysis.must_act


def test_features_group_what_belongs_together(analysed: Analysed) -> None:
    analysis = analysed(
        HEAD
        + """
optimizer = torch.optim.SGD(params)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
nn.init.zeros_(w)
nn.init.zeros_(v)
layers = nn.Sequential()
net = nn.Module()
net.register_forward_hook(print)
class Square(torch.autograd.Function):
    pass
"""
    )
    found = {row.name: row.members for row in analysis.features}
    assert found == {
        "init": {"zeros_": 2},
        "container": {"Sequential": 1},
        "optimizer": {"SGD": 1},
        "scheduler": {"StepLR": 1},
        "hook": {"register_forward_hook": 1},
        "autograd.Function": {"Function": 1},
    }
    assert {row.name: row.status for row in analysis.features}["optimizer"] == "supported"


def test_totals_do_not_depend_on_min_status(analysed: Analysed) -> None:
    source = HEAD + "torch.relu(x)\ntorch.geqrf(x)\n"
    assert analysed(source, min_status="missing").uses == analysed(source).uses == 2
