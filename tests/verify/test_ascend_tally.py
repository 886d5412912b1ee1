"""Verdicts of dry runs: float32 decides, the worst stage counts, other dtypes are named."""

from __future__ import annotations

from migrate.table import Table
from migrate.table.ascend_kernels import reason, reasons
from migrate.table.evidence import SLOW, Evidence, ascend_said, contradiction, load
from migrate.verify.ascend_page import page
from migrate.verify.ascend_tally import AscendTally, by_row
from migrate.verify.fingerprint import row_hash, stale_rows
from migrate.verify.pages import api_pages


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
    assert document["why"] == {"float16": "forward: F: float32 only"}
    assert document["first"] == "gradient: FGrad: none"
    assert ascend_said(document).startswith("no kernel (PyNative 2/2; gradient 1/2; Graph mode 2/2")


def test_what_the_porter_refuses_and_edges_say_nothing_of_the_device() -> None:
    tally = AscendTally()
    tally.add({**_trial(forward="refused: out="), "by_porter": True})
    tally.add({**_trial(forward="no kernel: F: none"), "edge": "empty"})
    assert tally.document() == {"verdict": "not run", "first": "refused: out="}


def test_a_row_without_float32_is_judged_by_its_other_dtypes() -> None:
    tally = AscendTally()
    tally.add(_trial("int64", forward="accepted"))
    tally.add(_trial("bool", forward="program failed: ValueError: x"))
    assert tally.verdict == "fails"
    assert tally.document()["why"] == {"bool": "forward: ValueError: x"}


def test_trials_are_given_to_their_rows() -> None:
    rows: dict[str, AscendTally] = {}
    begins = {**_trial(), "begins": True}
    by_row([begins, _trial(forward="accepted"), begins, {"died": "hangs"}], rows, str.upper)
    assert rows["TORCH.F"].document()["first"] == "forward: the dry run hangs"
    assert rows["TORCH.F"].verdict == "undecided"


def test_the_dry_run_contradicts_the_documentation() -> None:
    assert contradiction(("Ascend", "CPU"), "no kernel") == "MindSpore's documentation lists Ascend"
    assert contradiction(("GPU", "CPU"), "AI CPU").endswith("does not list Ascend")
    for platforms, verdict in (
        (("Ascend",), "accepted"),
        (("CPU",), "no kernel"),
        (("CPU",), "undecided"),
        (("Ascend",), "undecided"),
        (("CPU",), ""),
    ):
        assert contradiction(platforms, verdict) == ""


def test_the_page_has_totals_and_every_row_that_is_not_accepted() -> None:
    table = Table()
    abs_row = table.get("torch.abs")
    assert abs_row is not None
    evidence = Evidence({"mindspore": "2.10.0"}, "CPU")
    evidence.rows = {
        "torch.abs": {
            "hash": row_hash(abs_row),
            "ascend": {
                "verdict": "accepted",
                "dtypes": {"float64": "dtype refused"},
                "hash": row_hash(abs_row),
            },
        },
        "torch.lgamma": {"ascend": {"verdict": "AI CPU", "first": "forward: Lgamma"}},
        "torch.add": {"verdict": "agrees"},
    }
    text = page(table, evidence, "Ascend910B2")
    assert "2 of 3 verified rows were run on it; 1 of them have changed since." in text
    assert stale_rows(table, evidence) == ["torch.lgamma", "torch.add"]
    assert stale_rows(table, evidence, "ascend") == ["torch.lgamma", "torch.add"]
    evidence.rows["torch.abs"]["ascend"]["hash"] = "another"
    assert "torch.abs" in stale_rows(table, evidence, "ascend")
    assert "torch.abs" not in stale_rows(table, evidence)
    assert "| `torch.lgamma` | AI CPU |" in text and "| `torch.abs` | float64 |" in text


def test_every_slow_row_says_why_its_kernel_stays() -> None:
    table = Table()
    rows = load(table.folder).rows
    slow = {n: row["ascend"] for n, row in rows.items() if row["ascend"]["verdict"] in SLOW}
    assert slow, "no row is slow: the table of reasons is not needed any more"
    assert [name for name, row in slow.items() if not reason(row["first"])] == []
    used = {
        operator for row in slow.values() for operator in row["first"].split(": ")[1].split(", ")
    }
    assert set(reasons()) <= used, "reasons of operators that no row has"
    assert reasons()["Lgamma"] in ascend_said(slow["torch.lgamma"])


def test_the_pages_of_the_api_show_the_dry_run() -> None:
    table = Table()
    pages = api_pages(table, load(table.folder))
    assert "| AI CPU: Lgamma; not for" in pages["torch.md"]
    assert "| no kernel: Eigh |" in pages["torch.linalg.md"]
