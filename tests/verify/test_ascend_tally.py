"""Verdicts of dry runs: float32 decides, the worst stage counts, other dtypes are named."""

from __future__ import annotations

from migrate.table.evidence import ascend_said
from migrate.verify.ascend_tally import AscendTally, by_row


def _trial(dtype: str = "float32", **stages: str) -> dict[str, object]:
    return {"place": 0, "api": "torch.f", "variant": "function", "dtype": dtype, **stages}


def test_the_worst_float32_stage_is_the_verdict() -> None:
    tally = AscendTally()
    tally.add(_trial(forward="accepted", gradient="AI CPU: FGrad", graph="accepted"))
    tally.add(_trial(forward="accepted", gradient="no kernel: FGrad: none", graph="accepted"))
    tally.add(_trial("float16", forward="dtype refused: F: float32 only"))
    document = tally.document()
    assert document["verdict"] == "no kernel"
    assert (document["pynative"], document["gradient"], document["graph"]) == ("2/2", "1/2", "2/2")
    assert document["dtypes"] == {"float16": "dtype refused"}
    assert document["first"] == "gradient: FGrad: none"
    assert ascend_said(document).startswith("no kernel (PyNative 2/2; gradient 1/2; Graph mode 2/2")


def test_what_the_porter_refuses_and_edges_say_nothing_of_the_device() -> None:
    tally = AscendTally()
    tally.add({**_trial(forward="refused: out="), "by_porter": True})
    tally.add({**_trial(forward="no kernel: F: none"), "edge": "empty"})
    assert tally.verdict == ""


def test_a_row_without_float32_is_judged_by_its_other_dtypes() -> None:
    tally = AscendTally()
    tally.add(_trial("int64", forward="accepted"))
    tally.add(_trial("bool", forward="program failed: ValueError: x"))
    assert tally.verdict == "fails"


def test_trials_are_given_to_their_rows() -> None:
    rows: dict[str, AscendTally] = {}
    begins = {**_trial(), "begins": True}
    by_row([begins, _trial(forward="accepted"), begins, {"died": "hangs"}], rows, str.upper)
    assert rows["TORCH.F"].verdict == "fails"
