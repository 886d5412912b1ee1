"""Lookup finds what a person means, and shows the row as they want to read it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.errors import RequestError
from migrate.lookup import facts
from migrate.lookup.names import search
from migrate.table import Entry, Overload, Table, reference_pages
from migrate.verify.fingerprint import row_hash

NN = """
[defaults]
kind = "class"
[[family]]
names = ["Conv1d", "Conv2d"]
torch = "torch.nn.{name}"
params = "in_channels, stride=1, groups=1, bias=True, padding_mode='zeros', device=None"
mindspore = "mindspore.nn.{name}"
mint = "mindspore.mint.nn.{name}"
rename = { groups = "group", bias = "has_bias" }
pin = { has_bias = "True", pad_mode = "'pad'" }
drop = ["device"]
refuse = { padding_mode = "MindSpore pads with zeros only" }
note = "MindSpore pads to keep the size"
example = { before = "nn.{name}(3)", after = "nn.{name}(3, has_bias=True, pad_mode='pad')" }
[[api]]
torch = "torch.nn.ReLU"
params = "inplace=False"
mindspore = "mindspore.nn.ReLU"
drop = ["inplace"]
platforms = ["CPU"]
modes = ["graph"]
since = "2.9"
[[api]]
torch = "torch.nn.ReLU.inplace"
kind = "attribute"
[[api]]
torch = "torch.nn.BatchNorm2d"
params = "num_features"
mindspore = "mindspore.nn.BatchNorm2d"
[[api]]
torch = "torch.nn.BatchNorm3d"
params = "num_features"
mindspore = "mindspore.nn.BatchNorm3d"
[[api]]
torch = "torch.nn.GELU"
params = "approximate='none'"
mindspore = "mindspore.nn.GELU"
values = { approximate = { "'none'" = "False", "'tanh'" = "" } }
"""
FUNCTIONAL = """
[defaults]
kind = "function"
[[api]]
torch = "torch.nn.functional.relu"
params = "input, inplace=False"
mindspore = "mindspore.ops.relu"
drop = ["inplace"]
"""
TORCH = """
[defaults]
kind = "function"
[[api]]
torch = "torch.relu"
params = "input"
mindspore = "mindspore.ops.relu"
[[api]]
torch = "torch.max"
[[api.overload]]
params = "input"
mindspore = "mindspore.ops.max"
[[api.overload]]
params = "input, dim: int, keepdim: bool = False"
emit = "ops.max({input}, axis={dim})"
[[api]]
torch = "torch.geqrf"
params = "input"
note = "no kernel"
way = "use mindspore.ops.qr"
"""
TENSOR = """
[defaults]
kind = "method"
[[api]]
torch = "torch.Tensor.view"
params = "*shape"
mindspore = "mindspore.Tensor.view"
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setenv("MS_MIGRATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    folder = tmp_path / "mappings"
    folder.mkdir()
    for name, text in (
        ("torch", TORCH),
        ("torch.nn", NN),
        ("torch.nn.functional", FUNCTIONAL),
        ("torch.Tensor", TENSOR),
        ("aliases", '[exact]\n"torch.clip_relu" = "torch.relu"\n'),
    ):
        (folder / f"{name}.toml").write_text(text)
    made = Table(folder)
    monkeypatch.setattr("migrate.lookup.Table", lambda: made)
    return made


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("torch.nn.Conv2d", "torch.nn.Conv2d"),
        ("nn.Conv2d", "torch.nn.Conv2d"),
        ("F.relu", "torch.nn.functional.relu"),
        ("Tensor.view", "torch.Tensor.view"),
        ("torch.Tensor.view()", "torch.Tensor.view"),
        ("view", "torch.Tensor.view"),
        ("Conv2d", "torch.nn.Conv2d"),
        ("nn.conv2d", "torch.nn.Conv2d"),
        ("CONV2D", "torch.nn.Conv2d"),
        ("torch.clip_relu", "torch.relu"),
        ("nn.ReLU.inplace", "torch.nn.ReLU.inplace"),
    ],
)
def test_one_row_is_meant(table: Table, query: str, expected: str) -> None:
    answer = search(table, query)
    assert answer.exact
    assert [entry.torch for entry in answer.entries] == [expected]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("relu", ["torch.relu", "torch.nn.functional.relu"]),
        ("nn.Conv", ["torch.nn.Conv1d", "torch.nn.Conv2d"]),
        ("torch.nn.Conv*", ["torch.nn.Conv1d", "torch.nn.Conv2d"]),
        ("torch.nn.functional.", ["torch.nn.functional.relu"]),
        ("batchnorm", ["torch.nn.BatchNorm2d", "torch.nn.BatchNorm3d"]),
        ("nn.batch", ["torch.nn.BatchNorm2d", "torch.nn.BatchNorm3d"]),
    ],
)
def test_several_rows_are_listed(table: Table, query: str, expected: list[str]) -> None:
    assert [entry.torch for entry in search(table, query).entries] == expected


def test_a_namespace_lists_its_members(table: Table) -> None:
    names = [entry.torch for entry in search(table, "torch.nn").entries]
    assert "torch.nn.Conv2d" in names and "torch.nn.functional.relu" in names
    assert {e.torch for e in search(table, "torch").entries} == {
        "torch.relu",
        "torch.max",
        "torch.geqrf",
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("torch.nn.Cnov2d", "torch.nn.Conv2d"),
        ("torch.geqr_f", "torch.geqrf"),
        ("Tensor.veiw", "torch.Tensor.view"),
        ("F.rleu", "torch.nn.functional.relu"),
    ],
)
def test_a_slip_finds_close_names(table: Table, query: str, expected: str) -> None:
    answer = search(table, query)
    assert answer.entries == []
    assert answer.close[0] == expected


def test_nothing_alike_is_said_plainly(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lookup", "zzzzzz"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "the table has no torch API called 'zzzzzz'" in err and "give a torch name" in err
    assert main(["lookup", "nn.Conv2d", "Tensor.veiw"]) == 2
    assert "did you mean torch.Tensor.view" in capsys.readouterr().err


def test_arguments_stand_side_by_side(table: Table) -> None:
    entry = table.get("torch.nn.Conv2d")
    assert entry is not None
    assert [tuple(row) for row in facts.arguments(entry.main)] == [
        ("in_channels", "in_channels", "same"),
        ("stride=1", "stride", "same"),
        ("groups=1", "group", "renamed"),
        ("bias=True", "has_bias=True", "renamed; written even when left out"),
        ("padding_mode='zeros'", "", "only 'zeros'; MindSpore pads with zeros only"),
        ("device=None", "", "dropped: without effect here"),
        ("", "pad_mode='pad'", "always written: MindSpore's default differs"),
    ]


def test_constants_and_expressions_are_explained(table: Table) -> None:
    gelu = table.get("torch.nn.GELU")
    assert gelu is not None
    assert facts.arguments(gelu.main)[0].how == "constants: 'none' → False, 'tanh' → left out"
    largest = table.get("torch.max")
    assert largest is not None
    rows = facts.arguments(largest.overloads[1])
    assert [(row.torch, row.how) for row in rows] == [
        ("input", "goes into the expression"),
        ("dim: int", "goes into the expression"),
        ("keepdim: bool = False", "not used"),
    ]


def test_the_row_on_screen(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lookup", "nn.Conv2d"]) == 0
    out = capsys.readouterr().out
    for part in (
        "torch.nn.Conv2d  class, rewritten",
        "MindSpore  mindspore.nn.Conv2d",
        "mint       mindspore.mint.nn.Conv2d",
        "MindSpore pads to keep the size.",
        "runs on   all devices, PyNative and Graph",
        "before    nn.Conv2d(3)",
        "after     nn.Conv2d(3, has_bias=True, pad_mode='pad')",
        "evidence  not measured yet",
        "see       https://www.mindspore.cn/docs/",
    ):
        assert part in out, part


def test_limits_aliases_and_members_on_screen(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["lookup", "nn.ReLU", "torch.clip_relu", "torch.geqrf", "torch.max"])
    out = capsys.readouterr().out
    assert "CPU, Graph only; since MindSpore 2.9" in out
    assert "members   inplace" in out
    assert "(torch.clip_relu is another name for it)" in out
    assert "no counterpart" in out and "Use mindspore.ops.qr." in out
    assert "torch.max(input, dim: int, keepdim: bool = False)" in out


def test_evidence_is_shown_once_it_exists(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    entry = table.get("torch.nn.ReLU")
    assert entry is not None
    found = {"verdict": "agrees", "hash": row_hash(entry), "samples": 12, "forward": "12/12"}
    document = {"versions": {"torch": "2.13.0"}, "platform": "CPU", "rows": {entry.torch: found}}
    (table.folder / "evidence.json").write_text(json.dumps(document))
    main(["lookup", "nn.ReLU"])
    assert "evidence  agrees (values 12/12; torch 2.13.0, CPU)" in capsys.readouterr().out


def test_evidence_of_another_row_is_stale(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    found = {"verdict": "agrees", "hash": "of an older row", "samples": 12, "forward": "12/12"}
    (table.folder / "evidence.json").write_text(json.dumps({"rows": {"torch.nn.ReLU": found}}))
    main(["lookup", "nn.ReLU"])
    assert "evidence  stale, the row has changed since: agrees" in capsys.readouterr().out


def test_quiet_prints_targets(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lookup", "-q", "nn.Conv", "torch.geqrf"]) == 0
    assert capsys.readouterr().out == "mindspore.nn.Conv1d\nmindspore.nn.Conv2d\n-\n"


def test_json(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lookup", "--format", "json", "nn.Conv2d", "relu"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["version"]) == ("ms-migrate/lookup", 1)
    conv, relu = document["answers"]
    assert conv["exact"] and not relu["exact"]
    assert conv["rows"][0]["forms"][0]["arguments"][2] == {
        "torch": "groups=1",
        "mindspore": "group",
        "how": "renamed",
    }
    assert [row["torch"] for row in relu["rows"]] == ["torch.relu", "torch.nn.functional.relu"]


def test_one_row_reads_one_file(table: Table) -> None:
    """What makes lookup fast: other namespaces stay unread."""
    search(table, "Tensor.view")
    assert set(table._namespaces) == {"torch.Tensor"}


def test_a_row_without_a_name_is_no_traceback(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    for query in ("", ".", "*", "nn.", "torch.."):
        try:
            assert main(["lookup", query]) in (0, 2)
        except RequestError:
            pytest.fail("a RequestError left the command line")


@pytest.mark.parametrize(
    ("target", "page"),
    [
        ("mindspore.nn.ReLU", "nn/mindspore.nn.ReLU.html"),
        ("mindspore.ops.relu", "ops/mindspore.ops.relu.html"),
        ("mindspore.Tensor", "mindspore/mindspore.Tensor.html"),
        ("mindspore.Tensor.view", "mindspore/Tensor/mindspore.Tensor.view.html"),
        ("mindspore.nn.Cell.set_train", "nn/mindspore.nn.Cell.html#mindspore.nn.Cell.set_train"),
        ("mindspore.save_checkpoint", "mindspore/mindspore.save_checkpoint.html"),
        ("mindspore.dataset.vision.Resize", "dataset_vision/mindspore.dataset.vision.Resize.html"),
        ("mindspore.amp.auto_mixed_precision", "amp/mindspore.amp.auto_mixed_precision.html"),
    ],
)
def test_the_page_follows_the_target(target: str, page: str) -> None:
    entry = Entry("torch.x", "class", (Overload(mindspore=target),), "supported")
    assert (
        reference_pages.reference(entry)
        == f"https://www.mindspore.cn/docs/en/master/api_python/{page}"
    )


def test_what_a_rule_does_is_a_whole_sentence() -> None:
    assert facts.rule_summary("conv_padding").endswith("MindSpore names every side")
    for path in (Path(facts.__file__).parent.parent / "rewrite" / "rules").glob("*.py"):
        for name in re.findall(r"^def (\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert not facts.rule_summary(name).endswith((",", ";", " the", " a", " every"))
