"""From comparisons to words, on comparisons made by hand."""

from __future__ import annotations

from math import inf

from migrate.parity.judge.compare import Comparison, Layer, Row
from migrate.parity.judge.diagnose import diagnose
from migrate.parity.judge.hints import for_layer, for_update
from migrate.parity.judge.localize import backward_suspects, forward_suspects
from migrate.parity.judge.metrics import measure
from migrate.parity.judge.tolerance import Judgement
from migrate.parity.workers.structure import ModuleInfo, Place

GOOD, BAD = Judgement(True, 0.5), Judgement(False, 99.0, "is 99 times the noise floor away")


def layer(
    path: str, given: str = "+", out: str = "+", slope_in: str = "+", slope: str = "+"
) -> Layer:
    def judged(mark: str) -> list[Judgement]:
        return [GOOD if mark == "+" else BAD]

    return Layer(
        path,
        path,
        0,
        Place("t.py", 1),
        Place("m.py", 2),
        [],
        [],
        judged(given),
        judged(out),
        judged(slope_in),
        judged(slope),
    )


def comparison(layers: list[Layer], rows: list[Row], mode: str = "pynative") -> Comparison:
    modules = {
        each.path: ModuleInfo(each.path, "Layer", "k=1", Place("t.py", 5)) for each in layers
    }
    same = {path: path for path in modules}
    return Comparison(mode, rows, layers, modules, modules, {"modules": same}, None, "")


def rows(layers: list[Layer]) -> list[Row]:
    return [Row("layers", each.path, each.worst) for each in layers if each.path]


def test_the_first_layer_with_good_inputs_and_bad_output_is_the_suspect() -> None:
    layers = [layer("a"), layer("b", out="-"), layer("c", "-", "-"), layer("", out="-")]
    found = comparison(layers, rows(layers))
    suspects = forward_suspects(found)
    assert suspects[0].layer.path == "b" and not suspects[0].own_code
    said = diagnose(found, found, suspects, [])
    assert (said.stage, said.path) == ("layers", "b") and "t.py:5" in said.text


def test_a_container_whose_parts_agree_is_blamed_itself_and_between_which_calls() -> None:
    layers = [layer("x.a"), layer("x.b", "-", "-"), layer("x", out="-"), layer("", out="-")]
    suspect = forward_suspects(comparison(layers, rows(layers)))[0]
    assert suspect.layer.path == "x" and suspect.own_code
    assert suspect.after is layers[0] and suspect.before is layers[1]


def test_the_code_before_a_part_is_the_code_before_its_own_call_not_before_its_parts() -> None:
    layers = [layer("a"), layer("b.c", "-", "-"), layer("b", "-", "-"), layer("", out="-")]
    suspect = forward_suspects(comparison(layers, rows(layers)))[0]
    assert suspect.layer.path == "" and suspect.before is layers[2]


def test_a_wrong_gradient_is_blamed_on_the_last_layer_that_received_a_good_one() -> None:
    layers = [
        layer("a", slope_in="-", slope="-"),
        layer("b", slope_in="-", slope="+"),
        layer("c"),
        layer("", slope_in="-", slope="+"),
    ]
    found = comparison(layers, [*rows(layers), Row("gradients", "a.weight", BAD)])
    suspects = backward_suspects(found)
    assert [suspect.layer.path for suspect in suspects] == ["b", ""]
    assert diagnose(found, found, suspects, []).stage == "gradients"


def test_a_difference_in_one_mode_only_is_said_to_be_one() -> None:
    layers = [layer("a"), layer("")]
    fine = comparison(layers, rows(layers))
    graph = comparison([], [Row("loss", "loss", BAD)], "graph")
    said = diagnose(graph, fine, [], [])
    assert said.kind == "mode" and "Only graph mode differs; pynative agrees" in said.text


def test_one_factor_on_every_update_is_a_learning_rate() -> None:
    import numpy as np

    truth = np.linspace(1, 2, 5)
    wrong = Judgement(False, inf, "differs", measure(truth, truth * 1.1))
    found = comparison([], [Row("updates", name, wrong) for name in ("a.weight", "b.weight")])
    assert "1.1 times torch's" in for_update(found, "updates")[0]
    assert diagnose(found, found, [], []).kind == "optimizer"


def test_settings_that_differ_are_shown() -> None:
    ours = ModuleInfo("m", "BatchNorm2d", "8, eps=1e-05, momentum=0.1, affine=True")
    theirs = ModuleInfo("m", "BatchNorm2d", "num_features=8, eps=1e-05, momentum=0.1")
    assert len(for_layer(ours, theirs)) == 1 and "momentum" in for_layer(ours, theirs)[0]
    right = ModuleInfo("m", "BatchNorm2d", "num_features=8, eps=1e-05, momentum=0.9")
    assert for_layer(ours, right) == []
    pool = ModuleInfo("p", "MaxPool2d", "kernel_size=3, stride=2, padding=1")
    same = ModuleInfo("p", "MaxPool2d", "kernel_size=3, stride=2, pad_mode=SAME")
    assert "pad_mode='pad'" in for_layer(pool, same)[0]
