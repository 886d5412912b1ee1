"""Pairing by structure: names, spellings, wrappers, order, ties, and honest failure."""

from __future__ import annotations

from types import SimpleNamespace as Fake

from migrate.parity.judge import compare
from migrate.parity.judge.matching import match, unknown_names
from migrate.parity.workers.structure import ModuleInfo, Variable


def module(path: str, type_: str, **variables: tuple[int, ...]) -> ModuleInfo:
    statistics = ("running_mean", "running_var", "moving_mean", "moving_variance")
    made = {
        local: Variable(
            f"{path}.{local}", shape, "float32", local not in statistics, local in statistics
        )
        for local, shape in variables.items()
    }
    return ModuleInfo(path, type_, variables=made)


def pairs(torch: list[ModuleInfo], other: list[ModuleInfo], **renames: str) -> dict[str, str]:
    found = match(torch, other, renames)
    assert not found.unmatched_torch and not found.unmatched_mindspore
    return {pair.torch: pair.mindspore for pair in found.pairs}


def test_classic_layers_by_their_own_names() -> None:
    torch = [
        module("", "Net"),
        module("bn", "BatchNorm2d", weight=(8,), bias=(8,), running_mean=(8,), running_var=(8,)),
        module("emb", "Embedding", weight=(5, 8)),
        module("act", "PReLU", weight=(8,)),
    ]
    other = [
        module("", "Net"),
        module("bn", "BatchNorm2d", moving_mean=(8,), moving_variance=(8,), gamma=(8,), beta=(8,)),
        module("emb", "Embedding", embedding_table=(5, 8)),
        module("act", "PReLU", w=(8,)),
    ]
    assert pairs(torch, other) == {
        "bn.weight": "bn.gamma",
        "bn.bias": "bn.beta",
        "bn.running_mean": "bn.moving_mean",
        "bn.running_var": "bn.moving_variance",
        "emb.weight": "emb.embedding_table",
        "act.weight": "act.w",
    }


def test_conv1d_has_one_axis_more() -> None:
    torch = [module("", "Net"), module("c", "Conv1d", weight=(4, 3, 5))]
    other = [module("", "Net"), module("c", "Conv1d", weight=(4, 3, 1, 5))]
    found = match(torch, other)
    assert [(p.torch, p.shape) for p in found.pairs] == [("c.weight", (4, 3, 1, 5))]


def test_batchnorm3d_keeps_its_parameters_one_level_deeper() -> None:
    torch = [module("", "Net"), module("n", "BatchNorm3d", weight=(2,), bias=(2,))]
    other = [
        module("", "Net"),
        module("n", "BatchNorm3d"),
        module("n.bn2d", "BatchNorm2d", gamma=(2,), beta=(2,)),
    ]
    assert pairs(torch, other) == {"n.weight": "n.bn2d.gamma", "n.bias": "n.bn2d.beta"}


def test_other_spellings_and_other_names_are_found_by_sizes() -> None:
    torch = [
        module("", "Net"),
        module("downsample", "Sequential"),
        module("downsample.0", "Conv2d", weight=(8, 4, 1, 1)),
        module("avgpool", "AdaptiveAvgPool2d"),
        module("fc", "Linear", weight=(10, 8), bias=(10,)),
    ]
    other = [
        module("", "Net"),
        module("down_sample", "SequentialCell"),
        module("down_sample.0", "Conv2d", weight=(8, 4, 1, 1)),
        module("pool", "GlobalAvgPooling"),
        module("classifier", "Dense", weight=(10, 8), bias=(10,)),
    ]
    found = match(torch, other)
    assert found.modules["avgpool"] == "pool" and found.modules["fc"] == "classifier"
    assert any("classifier" in note for note in found.notes)


def test_a_shifted_sequence_is_paired_by_sizes_not_by_index() -> None:
    torch = [
        module("", "Sequential"),
        module("0", "Linear", weight=(4, 3), bias=(4,)),
        module("1", "Linear", weight=(2, 4), bias=(2,)),
    ]
    other = [
        module("", "SequentialCell"),
        module("0", "Flatten"),
        module("1", "Dense", weight=(4, 3), bias=(4,)),
        module("2", "Dense", weight=(2, 4), bias=(2,)),
    ]
    assert pairs(torch, other)["1.weight"] == "2.weight"


def test_a_missing_bias_is_listed_on_the_side_that_has_it() -> None:
    torch = [module("", "Net"), module("c", "Conv2d", weight=(4, 3, 1, 1), bias=(4,))]
    other = [module("", "Net"), module("c", "Conv2d", weight=(4, 3, 1, 1))]
    found = match(torch, other)
    assert found.unmatched_torch == ["c.bias [4]"] and found.unmatched_mindspore == []


def test_a_map_is_believed() -> None:
    torch = [
        module("", "Net"),
        module("a", "Linear", weight=(3, 3)),
        module("b", "Linear", weight=(3, 3)),
    ]
    other = [
        module("", "Net"),
        module("x", "Dense", weight=(3, 3)),
        module("y", "Dense", weight=(3, 3)),
    ]
    assert pairs(torch, other)["a.weight"] == "x.weight"
    assert pairs(torch, other, a="y", b="x")["a.weight"] == "y.weight"


def test_tied_weights_share_one_parameter() -> None:
    shared = Variable("emb.weight", (7, 4), "float32", True)
    torch = [
        module("", "Net"),
        ModuleInfo("emb", "Embedding", variables={"weight": shared}),
        ModuleInfo("head", "Linear", variables={"weight": shared}),
    ]
    other = [
        module("", "Net"),
        module("emb", "Embedding", embedding_table=(7, 4)),
        module("head", "Head"),
    ]
    assert pairs(torch, other) == {
        "emb.weight": "emb.embedding_table",
        "head.weight": "emb.embedding_table",
    }


def test_a_buffer_that_is_a_constant_elsewhere_is_noted_not_refused() -> None:
    mask = Variable("mask", (4, 4), "bool", False, True)
    torch = [ModuleInfo("", "Net", variables={"mask": mask})]
    found = match(torch, [module("", "Net")])
    assert not found.unmatched_torch and "mask" in found.notes[0]


def test_a_map_that_names_what_there_is_not_is_noticed() -> None:
    ours, theirs = [module("", "N"), module("fc", "Linear", weight=(2, 2))], [module("", "N")]
    renames = {"fc.weight": "head.weight", "": ""}
    assert unknown_names(ours, theirs, renames) == ["head.weight (in MindSpore)"]


def test_layers_that_one_side_does_not_run_are_listed() -> None:
    """But for an empty Sequential, which passes its input on and is no cell to MindSpore."""
    torch = [module("", "Net"), module("fc", "Linear"), module("drop", "Dropout")]
    torch += [module("shortcut", "Sequential"), module("body", "Sequential")]
    torch += [module("body.0", "ReLU")]
    other = [module("", "Net"), module("fc", "Dense"), module("extra", "ReLU")]
    other += [module("fc.matmul", "MatMul")]
    result = Fake(
        layers=[Fake(path="fc", other_path="fc")],
        modules={one.path: one for one in torch},
        other_modules={one.path: one for one in other},
        only_torch=[],
        only_mindspore=[],
        error=None,
    )
    sides = [Fake(run={"events": [{"path": one.path} for one in side]}) for side in (torch, other)]
    compare._list_unpaired(result, Fake(torch=sides[0], other=sides[1]))  # type: ignore[arg-type]
    assert result.only_torch == ["drop (Dropout)", "body (Sequential)", "body.0 (ReLU)"]
    assert result.only_mindspore == ["extra (ReLU)"]
