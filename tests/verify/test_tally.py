"""What notes of trials add up to, without any framework."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from migrate.errors import RequestError
from migrate.table import Table
from migrate.verify import fingerprint
from migrate.verify.command import chosen_cases
from migrate.verify.session import without_batch
from migrate.verify.tally import Tally, by_row, of_case, trials_in


def _trial(place: int, **more: Any) -> dict[str, Any]:
    return {"place": place, "api": "torch.f", "variant": "function", "dtype": "float32", **more}


def test_all_agree() -> None:
    tally = of_case([_trial(0, forward="agrees", gradient="agrees"), _trial(1, forward="agrees")])
    assert (tally.verdict, tally.samples) == ("agrees", 2)
    assert tally.document("h") == {
        "verdict": "agrees",
        "hash": "h",
        "samples": 2,
        "forward": "2/2",
        "gradient": "1/1",
    }


def test_the_worst_trial_decides_and_is_quoted() -> None:
    tally = of_case(
        [
            _trial(0, forward="refused: no"),
            _trial(1, forward="agrees", gradient="disagrees: 3 of 4", call="return torch.f(x0)"),
            _trial(2, forward="fails: boom"),
        ]
    )
    assert tally.verdict == "disagrees"
    assert tally.reason == "sample 1 `torch.f(x0)`, gradient: 3 of 4"
    assert tally.refused == 1


def test_a_death_belongs_to_the_stage_that_had_begun() -> None:
    notes = [
        {"trials": 2},
        _trial(0, begins=True),
        {"stage": "gradient", "forward": "agrees"},
        {"died": "kills the process (SIGFPE)"},
        _trial(1, begins=True),
        _trial(1, forward="agrees"),
    ]
    first, second = trials_in(notes)
    assert first["forward"] == "agrees"
    assert first["gradient"] == "fails: kills the process (SIGFPE)"
    assert second["place"] == 1


def test_other_dtypes_are_counted_apart_but_not_forgiven() -> None:
    rows: dict[str, Tally] = {}
    notes = [
        _trial(0, forward="agrees"),
        _trial(1, dtype="int64", variant="dtype", forward="disagrees: 2 of 3"),
    ]
    by_row(notes, rows, lambda name: name)
    tally = rows["torch.f"]
    assert tally.samples == 1
    assert tally.others == {"int64": [0, 1]}
    assert tally.verdict == "disagrees"
    assert "(int64)" in tally.reason
    assert tally.unstated("") == ["int64"]
    assert tally.unstated("int64 becomes int32") == []


def test_a_dtype_that_the_note_names_is_excepted() -> None:
    rows: dict[str, Tally] = {}
    notes = [
        _trial(0, forward="agrees"),
        _trial(1, dtype="int64", variant="dtype", forward="fails: no kernel"),
    ]
    by_row(notes, rows, lambda name: name)
    tally = rows["torch.f"]
    assert tally.verdict == "fails"
    tally.note = "int64 has no kernel"
    assert tally.document("h")["verdict"] == "agrees"
    assert tally.document("h")["excepted"] == ["int64"]
    assert tally.document("h")["dtypes"] == {"int64": "0/1"}


def test_empty_inputs_that_the_note_names_are_excepted() -> None:
    notes = [
        _trial(0, forward="agrees"),
        _trial(1, forward="disagrees: 2 of 3", edge="empty"),
        _trial(2, forward="fails: no axis", edge="single number"),
    ]
    tally = of_case(notes)
    tally.note = "no empty batch"
    assert tally.verdict == "fails"
    tally.note = "no empty batch, no single number"
    assert tally.verdict == "agrees"
    assert tally.document("h")["excepted"] == ["empty", "single number"]
    assert tally.document("h")["forward"] == "1/3"


def test_only_inputs_at_the_edge_go_wrong() -> None:
    notes = [_trial(0, forward="agrees"), _trial(1, forward="fails: no kernel", edge="empty")]
    assert of_case(notes).document("")["edge_only"] is True
    assert "edge_only" not in of_case([_trial(0, forward="fails: x")]).document("")


def test_only_graph_mode_goes_wrong() -> None:
    found = of_case([_trial(0, forward="agrees", graph="fails: no kernel")]).document("")
    assert found["verdict"] == "fails"
    assert found["graph_only"] is True


def test_what_was_never_tried_is_not_agreement() -> None:
    tally = of_case([_trial(0, skipped="a Generator cannot be written down")])
    assert tally.verdict == "untried"
    assert tally.reason == "a Generator cannot be written down"


def test_errors_are_counted_apart_from_agreement() -> None:
    rows: dict[str, Tally] = {}
    notes = [
        _trial(0, forward="agrees"),
        _trial(1, variant="error", error="raises: ValueError: no"),
        _trial(2, variant="error", error="accepts: torch raises IndexError", call="return f(x0)"),
        _trial(3, variant="error", begins=True),
        {"died": "kills the process (SIGFPE)"},
    ]
    by_row(notes, rows, lambda name: name)
    found = rows["torch.f"].document("h")
    assert (found["verdict"], found["samples"], found["errors"]) == ("agrees", 1, "2/3")
    assert found["accepts"] == "sample 2 `f(x0)`, error: torch raises IndexError"


@pytest.mark.parametrize(
    ("api", "dimensions", "edge"),
    [
        ("torch.nn.Conv2d", 3, "batches only"),
        ("torch.nn.Conv2d", 4, ""),
        ("torch.nn.MaxPool1d", 2, "batches only"),
        ("torch.nn.Linear", 1, ""),
    ],
)
def test_a_batch_that_is_left_out_is_an_edge(api: str, dimensions: int, edge: str) -> None:
    class Input:
        def dim(self) -> int:
            return dimensions

    assert without_batch(api, [Input()]) == edge


def test_where_a_rule_imports_from_does_not_make_its_evidence_stale() -> None:
    """Only what decides the emitted code counts."""
    text = fingerprint._rule_text("complement_momentum")
    assert "def complement_momentum(" in text
    assert "import" not in text


def test_a_name_without_samples_is_told_apart_from_a_mistyped_one() -> None:
    pool = SimpleNamespace(cases={"module:nn.Conv2d": {"torch.nn.Conv2d"}})
    for name, said in (("torch.nn.Conv2", "did you mean torch.nn.Conv2d?"), ("x", "lookup NAME")):
        with pytest.raises(RequestError, match=rf"no sample exercises {name}\n.*{re.escape(said)}"):
            chosen_cases(pool, Table(), [name])  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=r"not measured\n.*own_samples"):
        chosen_cases(pool, Table(), ["torch.nn.DataParallel"])  # type: ignore[arg-type]
