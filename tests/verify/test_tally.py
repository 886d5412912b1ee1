"""What notes of trials add up to, without any framework."""

from __future__ import annotations

from typing import Any

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


def test_only_inputs_at_the_edge_go_wrong() -> None:
    notes = [_trial(0, forward="agrees"), _trial(1, forward="fails: no kernel", edge=True)]
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
