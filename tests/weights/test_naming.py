"""Names told from names and shapes alone, and files told from their bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.cli import main
from migrate.errors import RequestError
from migrate.files.checkpoint_states import common_prefix
from migrate.weights import blobs, naming
from migrate.weights.blobs import Blob
from migrate.weights.by_model import state_structure, with_mindspore_model
from migrate.weights.convert import _settle, guess_framework
from tests.parity.test_matching import module


def test_norms_are_known_by_their_shapes() -> None:
    shapes = {
        "bn.weight": (4,),
        "bn.bias": (4,),
        "bn.running_mean": (4,),
        "bn.running_var": (4,),
        "bn.num_batches_tracked": (),
        "ln.weight": (8,),
        "ln.bias": (8,),
        "fc.weight": (5, 8),
        "fc.bias": (5,),
        "scale": (3,),
    }
    found = naming.to_mindspore(shapes)
    assert found.names["bn.weight"] == "bn.gamma" and found.names["ln.bias"] == "ln.beta"
    assert found.names["bn.running_var"] == "bn.moving_variance"
    assert found.names["fc.weight"] == "fc.weight" and found.names["scale"] == "scale"
    assert found.dropped == ["bn.num_batches_tracked"] and not found.undecided
    back = naming.to_torch({new: found.shapes[old] for old, new in found.names.items()})
    assert set(back.names.values()) == set(shapes) - {"bn.num_batches_tracked"}


def test_embeddings_prelus_and_conv1ds_are_not_guessed() -> None:
    found = naming.to_mindspore({"a.weight": (10, 4), "b.weight": (4,), "c.weight": (4, 3, 5)})
    assert set(found.undecided) == {"a.weight", "b.weight", "c.weight"}


def test_a_transformer_layer_may_be_torch_s_own_or_the_user_s() -> None:
    shapes = {
        "e.self_attn.in_proj_weight": (12, 4),
        "e.norm1.weight": (4,),
        "e.norm1.bias": (4,),
        "e.linear1.weight": (8, 4),
        "e.linear1.bias": (8,),
        "mine.linear1.weight": (8, 4),
        "mine.linear1.bias": (8,),
    }
    assert set(naming.to_mindspore(shapes).undecided) == {"e.linear1.weight", "e.linear1.bias"}


def test_a_norm_without_scale_and_what_follows_a_counter_are_renamed() -> None:
    shapes = {"n.running_mean": (4,), "n.num_batches_tracked": (), "n.running_var": (4,)}
    found = naming.to_mindspore(shapes)
    assert found.names == {"n.running_mean": "n.moving_mean", "n.running_var": "n.moving_variance"}
    biased = {"n.running_mean": (4,), "n.bias": (4,), "n.weight": (4,)}
    found = naming.to_mindspore(biased)
    assert found.names["n.bias"] == "n.beta" and not found.undecided
    assert naming.to_mindspore({"n.running_mean": (4,), "n.bias": (4,)}).names["n.bias"] == "n.beta"
    assert not naming.to_mindspore({"n.running_mean": (2, 3), "n.weight": (2, 3)}).undecided


def test_a_doubt_names_both_readings() -> None:
    shapes = {
        "a.weight": (10, 4),
        "b.weight": (4,),
        "c.weight": (4, 3, 5),
        "d.weight": (4, 3, 2, 2),
    }
    doubts = naming.to_mindspore(shapes).undecided
    assert doubts == {
        "a.weight": "a Linear without bias (weight) or an Embedding (embedding_table)",
        "b.weight": "a norm without bias (gamma) or a PReLU (w)",
        "c.weight": "a Conv1d, whose weight MindSpore stores with an extra axis, or a Bilinear",
    }


@pytest.mark.parametrize("layer", ["", "encoder.layers.0."])
def test_both_linears_of_a_transformer_are_doubted_at_any_depth(layer: str) -> None:
    attention, norm = f"{layer}self_attn.in_proj_weight", f"{layer}norm1.weight"
    shapes = {attention: (12, 4), norm: (4,), f"{layer}norm1.bias": (4,)}
    for part in ("linear1", "linear2"):
        shapes |= {f"{layer}{part}.weight": (8, 4), f"{layer}{part}.bias": (8,)}
    doubts = naming.to_mindspore(shapes).undecided
    assert "(dense1)" in doubts[f"{layer}linear1.bias"]
    assert "(dense2)" in doubts[f"{layer}linear2.weight"] and "(linear2)" in str(doubts)
    for missing in (attention, norm):
        rest = {name: shape for name, shape in shapes.items() if name != missing}
        assert f"{layer}linear1.bias" not in naming.to_mindspore(rest).undecided


def test_batch_norms_of_three_axes_come_up_one_level() -> None:
    shapes = {
        "n.bn2d.gamma": (4,),
        "n.bn2d.moving_mean": (4,),
        "n.bn2d.other": (4,),
        "m.gamma": (4,),
    }
    found = naming.to_torch(shapes)
    assert found.names == {
        "n.bn2d.gamma": "n.weight",
        "n.bn2d.moving_mean": "n.running_mean",
        "n.bn2d.other": "n.bn2d.other",
        "m.gamma": "m.weight",
    }
    assert found.shapes == shapes and not found.undecided


@pytest.mark.parametrize(
    ("name", "shape", "doubted"),
    [
        ("c.weight", (8, 3, 1, 5), True),
        ("c.weight", (8, 3, 1, 2), True),
        ("c.weight", (8, 3, 1, 1), False),
        ("c.weight", (8, 3, 2, 5), False),
        ("c.weight", (8, 3, 5), False),
        ("c.weight", (8, 3, 1, 5, 5), False),
        ("c.bias", (8, 3, 1, 5), False),
    ],
)
def test_a_kernel_one_high_may_be_of_one_axis(
    name: str, shape: naming.Shape, doubted: bool
) -> None:
    said = "a Conv1d (torch stores it without the axis of one) or a Conv2d one high"
    assert naming.to_torch({name: shape}).undecided == ({name: said} if doubted else {})


def test_a_map_may_name_a_whole_module_and_must_name_something() -> None:
    shapes = {"0.weight": (4,), "0.bias": (4,), "1.weight": (2, 4), "1.bias": (2,)}
    renaming = naming.to_mindspore(shapes)
    _settle(renaming, {"0": "norm", "1.weight": "fc.w", "1.bias": "fc.b"}, "mindspore", "f", "map")
    assert set(renaming.names.values()) == {"norm.gamma", "norm.beta", "fc.w", "fc.b"}
    with pytest.raises(RequestError, match="names foo"):
        _settle(renaming, {"foo": "bar"}, "mindspore", "f", "map")


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        (["module.a", "module.b"], "module."),
        (["module.model.a"], "module.model."),
        (["model.a", "head.b"], ""),
        (["a"], ""),
        ([], ""),
    ],
)
def test_only_a_wrapping_that_all_share_is_taken_off(names: list[str], prefix: str) -> None:
    assert common_prefix(names) == prefix


def test_a_mindspore_model_gives_the_names() -> None:
    shapes = {"fc.weight": (5, 8), "fc.bias": (5,), "emb.weight": (9, 8)}
    cells = [
        module("", "Net"),
        module("classifier", "Dense", weight=(5, 8), bias=(5,)),
        module("emb", "Embedding", embedding_table=(9, 8)),
    ]
    found = with_mindspore_model(cells, shapes, {}, to_mindspore=True)
    assert found.names["emb.weight"] == "emb.embedding_table"
    assert found.names["fc.bias"] == "classifier.bias"
    with pytest.raises(RequestError, match="does not fit"):
        with_mindspore_model(cells[:2], shapes, {}, to_mindspore=True)


def test_a_state_dict_implies_its_modules() -> None:
    paths = [m.path for m in state_structure({"a.0.weight": (1,), "a.1.weight": (2,)})]
    assert paths == ["", "a", "a.0", "a.1"]


def test_safetensors_are_written_as_the_library_reads_them(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    path = tmp_path / "t.safetensors"
    written = {
        "b": Blob("BOOL", (3,), b"\x01\x00\x01"),
        "a": Blob("F32", (2,), b"\x00\x00\x80\x3f" * 2),
        "empty": Blob("I64", (0,), b""),
    }
    blobs.write(path, written, {"k": "v"})
    assert blobs.read(path) == (written, {"k": "v"})
    assert load_file(path)["a"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("keep", [0, 4, 20, -1])
def test_damaged_safetensors_are_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "t.safetensors"
    blobs.write(path, {"a": Blob("F32", (2,), b"\x00" * 8)})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(RequestError, match="not a whole safetensors file"):
        blobs.read(path)


def test_offsets_that_overlap_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.safetensors"
    blobs.write(path, {n: Blob("F32", (1,), b"\x00" * 4) for n in ("a", "b")})
    content = path.read_bytes().replace(b"[4, 8]", b"[0, 4]")
    path.write_bytes(content)
    with pytest.raises(RequestError, match="not a whole safetensors file"):
        blobs.read(path)


def test_the_framework_is_told_by_its_names_or_asked_for() -> None:
    one = Blob("F32", (1,), b"\x00" * 4)
    matrix = Blob("F32", (1, 1), b"\x00" * 4)
    assert guess_framework({"n.gamma": one}, "f") == "mindspore"
    assert guess_framework({"n.running_mean": one}, "f") == "torch"
    with pytest.raises(RequestError) as refused:
        guess_framework({"fc.weight": matrix}, "f")
    assert "--from" in refused.value.next_step


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.pth", "x.ckpt"], "no such file"),
        (["setup.cfg", "x.ckpt"], "unknown ending"),
    ],
)
def test_a_wrong_request_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["weights", *words]) == 2
    assert said in capsys.readouterr().err
