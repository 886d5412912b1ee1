"""A mistake in a mapping file is named: the file, the row, the key, and what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.table import Table, TableError


def table(folder: Path, text: str, aliases: str = "") -> Table:
    (folder / "torch.toml").write_text(text)
    if aliases:
        (folder / "aliases.toml").write_text(aliases)
    return Table(folder)


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(TableError) as caught:
        list(table(folder, text))
    return str(caught.value)


ROW = '[[api]]\ntorch = "torch.cat"\nkind = "function"\nparams = "tensors, dim=0"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[api]\n", ("torch.toml", "not valid TOML", "line 1")),
        ("[rows]\n", ("torch.toml", "['rows']", "[[api]]")),
        ('[defaults]\nnote = "x"\n', ("[defaults]", "['note']", "drop")),
        ('[[api]]\nkind = "function"\n', ("torch.toml", "no torch name")),
        (ROW + 'tagret = "x"\n', ("torch.cat", "['tagret']", "mindspore")),
        ('[[api]]\ntorch = "torch.cat"\n', ("torch.cat", "kind is None", "function")),
        (ROW + 'status = "fine"\n', ("torch.cat", "status is 'fine'", "supported")),
        (ROW + 'platforms = ["TPU"]\n', ("torch.cat", "platforms is 'TPU'", "Ascend")),
        (ROW + 'tensors = ["*tensor"]\n', ("torch.cat", "tensors", "*tensor", "no parameter")),
        (ROW + 'modes = ["eager"]\n', ("torch.cat", "modes is 'eager'", "pynative")),
        (ROW + 'rename = { axis = "dim" }\n', ("torch.cat", "rename", "['axis']")),
        (ROW + 'drop = ["out"]\n', ("torch.cat", "drop", "['out']")),
        (ROW + 'refuse = { out = "no" }\n', ("torch.cat", "refuse", "['out']")),
        (ROW + 'values = { p = { "1" = "2" } }\n', ("torch.cat", "values", "['p']")),
        (ROW.replace("dim=0", "dim=,"), ("torch.cat", "not a parameter list", "dim=,")),
        (ROW + ROW, ("torch.cat", "two rows")),
        (ROW + 'example = { befor = "a", after = "b" }\n', ("torch.cat", "['befor']", "before")),
        (ROW + '[[api.overload]]\nnote = "x"\n', ("torch.cat", "overload", "['note']")),
        ('[[family]]\ntorch = "torch.{name}"\nkind = "function"\n', ("family", "names is missing")),
    ],
)
def test_a_mistake_is_named(tmp_path, text, words):
    message = complaint(tmp_path, text)
    for word in words:
        assert word in message


def test_an_alias_must_not_repeat_another_row(tmp_path):
    message = complaint(
        tmp_path, ROW + 'aliases = ["torch.concat"]\n' + ROW.replace("cat", "concat")
    )
    assert "torch.concat has two rows" in message


def test_a_folder_without_tables_is_named(tmp_path):
    with pytest.raises(TableError, match="no mapping files"):
        list(Table(tmp_path))


def test_a_family_is_unfolded_everywhere(tmp_path):
    rows = table(
        tmp_path,
        '[[family]]\nnames = ["abs", "exp"]\ntorch = "torch.{name}"\nkind = "function"\n'
        'params = "input, *, out=None"\nmindspore = "mindspore.ops.{name}"\n'
        'refuse = { out = "not {name}" }\n'
        'example = { before = "torch.{name}(x)", after = "ops.{name}(x)" }\n',
    )
    exp = rows.get("torch.exp")
    assert exp is not None
    assert exp.main.mindspore == "mindspore.ops.exp"
    assert exp.main.refuse == {"out": "not exp"}
    assert exp.examples == (("torch.exp(x)", "ops.exp(x)"),)
    assert exp.status == "supported"


def test_a_member_of_a_family_may_have_a_word_of_its_own(tmp_path):
    rows = table(
        tmp_path,
        '[[family]]\nnames = { Byte = "uint8", Long = "int64" }\ntorch = "torch.{name}Tensor"\n'
        'kind = "class"\nparams = "data, value=0"\n'
        'emit = "mindspore.tensor({data}, dtype=mindspore.{value})"\n',
    )
    row = rows.get("torch.LongTensor")
    assert row is not None
    assert row.main.emit == "mindspore.tensor({data}, dtype=mindspore.int64)"


def test_defaults_hold_only_where_a_row_has_the_parameter(tmp_path):
    rows = table(
        tmp_path,
        '[defaults]\nkind = "function"\ndrop = ["device"]\nrefuse = { out = "no" }\n'
        'returns = "Tensor"\n[[api]]\ntorch = "torch.ones"\nparams = "size, *, device=None"\n'
        'mindspore = "mindspore.ops.ones"\n'
        '[[api]]\ntorch = "torch.zeros"\nparams = "size, *, out=None"\nemit = "f({size}, {out})"\n',
    )
    ones, zeros = rows.get("torch.ones"), rows.get("torch.zeros")
    assert ones is not None and zeros is not None
    assert (ones.main.drop, ones.main.refuse, ones.returns()) == (("device",), {}, "Tensor")
    # A template that uses the parameter has decided about it.
    assert zeros.main.refuse == {}


def test_an_overload_keeps_what_its_row_states(tmp_path):
    rows = table(
        tmp_path,
        '[[api]]\ntorch = "torch.max"\nkind = "function"\nmindspore = "mindspore.ops.max"\n'
        '[[api.overload]]\nparams = "input"\n'
        '[[api.overload]]\nparams = "input, other: Tensor"\nmindspore = "mindspore.ops.maximum"\n',
    )
    row = rows.get("torch.max")
    assert row is not None
    assert [form.mindspore for form in row.overloads] == [
        "mindspore.ops.max",
        "mindspore.ops.maximum",
    ]


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ('mindspore = "mindspore.ops.cat"', "supported"),
        ('mindspore = "mindspore.ops.cat"\nrename = { dim = "axis" }', "rewritten"),
        ('emit = "ops.cat({tensors})"', "rewritten"),
        ('emit = "ops.cat(tuple({tensors}))"', "composed"),
        ('helper = "cat"', "composed"),
        ('way = "loop"', "missing"),
    ],
)
def test_the_form_of_a_row_says_its_status(tmp_path, form, status):
    row = table(tmp_path, ROW + form + "\n").get("torch.cat")
    assert row is not None
    assert row.status == status


def test_other_names_lead_to_the_row(tmp_path):
    rows = table(
        tmp_path,
        ROW + 'aliases = ["torch.concat"]\n',
        '[exact]\n"torch.concatenate" = "torch.cat"\n[prefix]\n"torch.functional." = "torch."\n',
    )
    for name in ("torch.cat", "torch.concat", "torch.concatenate", "torch.functional.cat"):
        assert rows.get(name) is rows.get("torch.cat") is not None
    assert rows.get("torch.functional.other") is None


def test_members_are_those_directly_below_a_name(tmp_path):
    rows = "".join(
        ROW.replace("torch.cat", name)
        for name in ("torch.cat", "torch.A", "torch.A.m", "torch.A.m.n")
    )
    (tmp_path / "torch.nn.toml").write_text(ROW.replace("torch.cat", "torch.nn.Linear"))
    (tmp_path / "other.toml").write_text(ROW.replace("torch.cat", "other.thing"))
    found = table(tmp_path, rows)
    assert set(found.children("torch.A")) == {"torch.A.m"}
    assert set(found.children("torch.nn")) == {"torch.nn.Linear"}
    assert set(found.children("torch")) == {"torch.cat", "torch.A"}
    assert found.children("torch.A")["torch.A.m"] is found.get("torch.A.m")
    assert set(found.names()) == {row.torch for row in found} > {"other.thing", "torch.nn.Linear"}


def test_variants_and_earlier_releases_take_the_place_of_rows(tmp_path):
    usual = ROW + 'mindspore = "mindspore.ops.cat"\nsince = "2.9"\n'
    (tmp_path / "nan.toml").write_text(ROW + 'helper = "cat_with_nan"\n')
    (tmp_path / "earlier.toml").write_text(ROW + 'helper = "cat_of_before"\n')
    table(tmp_path, usual + ROW.replace("torch.cat", "torch.plain"))

    def helper(name="torch.cat", **asked):
        row = Table(tmp_path, **asked).get(name)
        return row and row.main.helper

    assert not helper() and helper(variants=("nan",)) == "cat_with_nan"
    assert not helper(version="2.10") and helper(version="2.9") == "cat_of_before"
    assert helper(version="2.9", variants=("nan",)) == "cat_with_nan"
    assert helper(version="2.9", variants=("earlier",)) == "cat_of_before"
    assert helper("torch.nonesuch", variants=("nan",)) is None
    assert not helper("torch.plain", variants=("nan",))
    assert Table(tmp_path, version="2.10").version == "" and Table(tmp_path).variants == ()
    (tmp_path / "earlier.toml").unlink()
    assert Table(tmp_path, version="2.8").variants == ()


def test_a_class_in_a_module_of_another_name_is_found(tmp_path):
    rows = table(
        tmp_path,
        ROW.replace("torch.cat", "torch.A.m"),
        '[prefix]\n"torch.deep.er." = "torch."\n',
    )
    assert rows.canonical("torch.deep.er.A.m") == "torch.A.m"
    assert rows.canonical("torch.deep.A.m") == "torch.deep.A.m"


def test_only_the_bundled_table_is_cached(tmp_path):
    table(tmp_path, ROW)
    assert Table().cached and Table(Table().folder).cached and not Table(tmp_path).cached
    assert Table(tmp_path, cached=True).cached and not Table(cached=False).cached
