"""Console, Markdown and HTML say the same things, each in a form that stays intact."""

from __future__ import annotations

import io
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from migrate.analyze.model import Analysis, Options, Place
from migrate.report import console, github, html, markdown, sarif, words
from migrate.report.line_pairs import pair_lines
from migrate.report.output import plain_console, trimmed


def on_screen(analysis: Analysis, width: int) -> str:
    buffer = io.StringIO()
    console.show(analysis, plain_console(buffer, width))
    return trimmed(buffer.getvalue())


def test_summary_line(analysis: Analysis) -> None:
    assert words.summary(analysis) == (
        "69% of 13 uses port automatically (supported 1, rewritten 8, risky 2, missing 1, "
        "unlisted 1); 4 uses of 1 API need porting by hand; Graph mode needs changes in 1 place."
    )


def test_almost_all_is_not_all(analysis: Analysis) -> None:
    analysis.uses, analysis.automatic = 1000, 999
    assert words.summary(analysis).startswith("99% of 1,000 uses")


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_screen_fits_its_width(analysis: Analysis, width: int) -> None:
    text = on_screen(analysis, width)
    tables = text[: text.index("Not analysed")]
    assert max(map(len, tables.splitlines())) <= width
    assert text.splitlines()[-1] == words.summary(analysis)


@pytest.mark.parametrize("width", [80, 120])
def test_screen_shows_everything(analysis: Analysis, width: int) -> None:
    text = on_screen(analysis, width)
    for part in (
        "3 files, 1,234 lines (1 file without torch)",
        "nn.Conv2d",
        "rewritten -1",
        "net work.py:1, 2, 3",
        "a.ipynb:cell 2:4",
        "optimizers",
        "What to do",
        "torch.gone  MS301",
        "No <kernel>. Use ops.qr.",
        "Graph mode",
        "Good to know",
        "Not analysed",
        "pkg/bad.py:3:7: is not valid Python [MS205]",
    ):
        assert part in text, part
    assert text.index("What to do") > text.index("Operators")
    assert text.rstrip().endswith("Graph mode needs changes in 1 place.")


def test_modes_and_devices_are_judged_per_row(analysis: Analysis) -> None:
    lines = on_screen(analysis, 120).splitlines()
    line = next(x for x in lines if x.startswith("torch.sparse"))
    assert line.split()[2:6] == ["risky", "no", "yes", "CPU"]
    analysis.options = Options(device="Ascend", mode="graph")
    text = on_screen(analysis, 120)
    assert "PyNative" not in text and "Ascend" in text
    line = next(x for x in text.splitlines() if x.startswith("torch.sparse"))
    assert line.split()[2:5] == ["risky", "yes", "no"]


def test_min_status_leaves_rows_out(analysis: Analysis) -> None:
    analysis.options = replace(analysis.options, min_status="missing")
    assert [row.api for row in words.shown_operators(analysis)] == ["torch.gone", "torch.a|b"]
    assert words.shown_features(analysis) == []


def test_unknown_receivers_and_features_stay_out_of_the_operators(analysis: Analysis) -> None:
    shown = {row.api for row in words.shown_operators(analysis)}
    assert shown == {"torch.nn.Conv2d", "torch.sparse", "torch.gone", "torch.a|b"}


def test_places_name_each_file_once() -> None:
    found = [Place("a/x.py", 1, 1), Place("a/x.py", 1, 9), Place("a/x.py", 7, 1)]
    found += [Place("b/__init__.py", 2, 1), Place("c.py", 3, 1)]
    assert words.places(found) == "x.py:1, 7, b/__init__.py:2, c.py:3"
    assert words.places(found, 2) == "x.py:1, 7 +2"


def test_files_of_one_name_are_told_apart(analysis: Analysis) -> None:
    paths = ["src/a/net.py", "src/b/net.py", "src/b/deep/c/net.py", "other/c/net.py", "train.py"]
    analysis.operators[0].places[:] = [Place(path, 7, 1) for path in paths]
    names = words.file_names(analysis)
    assert [names[path] for path in paths] == [
        "a/net.py",
        "b/net.py",
        "deep/c/net.py",
        "other/c/net.py",
        "train.py",
    ]
    shown = on_screen(analysis, 160) + markdown.render(analysis)
    assert shown.count("a/net.py:7, b/net.py:7, deep/c/net.py:7") == 1


def test_a_narrow_column_keeps_the_line_numbers() -> None:
    found = [Place("package/transformer.py", line, 1) for line in (101, 202, 303)]
    names = {"package/transformer.py": "package/transformer.py"}
    assert words.places_within(found, names, 80) == "package/transformer.py:101, 202, 303"
    assert words.places_within(found, names, 32) == "package/transformer.py:101 +2"
    assert words.places_within(found, names, 16) == "…ormer.py:101 +2"


def test_what_the_port_waits_for_is_a_warning_in_reports_by_line(analysis: Analysis) -> None:
    note = replace(analysis.actions[-1], code="MS307", why="MS307: left", open=True)
    analysis.actions.append(note)
    lines = github.render(github.of_analysis(analysis), "end").splitlines()
    assert [line.split(",")[0] for line in lines if "MS307" in line] == [
        "::warning file=pkg/net work.py"
    ]
    assert not [line for line in lines if "MS308" in line]
    levels = {r["ruleId"]: r["level"] for r in sarif.document(analysis)["runs"][0]["results"]}
    assert (levels["MS307"], levels["MS308"]) == ("warning", "note")


def test_actions_with_the_same_cure_stand_together(analysis: Analysis) -> None:
    first = analysis.actions[0]
    analysis.actions.append(replace(first, title="torch.lost", places=first.places * 3))
    groups = words.due(analysis)
    assert words.titles(groups[0]) == "torch.gone, torch.lost 3"
    assert [len(words.all_places(group)) for group in groups] == [4, 2, 1]


def test_markdown_tables_stay_tables(analysis: Analysis) -> None:
    text = markdown.render(analysis)
    tables = [line for line in text.splitlines() if line.startswith("|")]
    operators = tables[: tables.index("| feature | what is used | how | uses | where |")]
    bars = {line.replace("\\|", "").count("|") for line in operators}
    assert bars == {9}
    assert r"`torch.a\|b`" in text
    assert r"may \| differ" in text.lower()
    assert text.startswith("# PyTorch to MindSpore\n\n**69% of 13 uses")


class Checker(HTMLParser):
    """Every element that is opened is closed, in order."""

    VOID = frozenset({"meta", "input", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        fetched = ("src",) if tag == "a" else ("src", "href")  # a link is followed by a person
        assert not any(name in fetched for name, _ in attrs), "fetches something"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_whole_and_fetches_nothing(analysis: Analysis) -> None:
    text = html.render(analysis)
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    assert checker.tags.count("table") == 2
    assert "no &lt;kernel&gt;" in text.lower() and "<kernel>" not in text
    assert "pads &#34;same&#34; &amp; &lt;so&gt;" in text
    assert all(word not in text for word in ("src=", "url(", "@import", "fetch("))


def test_html_of_an_empty_analysis() -> None:
    empty = Analysis(Options(), [], [], [], [], files=1)
    checker = Checker()
    checker.feed(html.render(empty))
    assert "table" not in checker.tags
    assert "Nothing to port" in on_screen(empty, 80)


def test_a_ported_line_stands_beside_its_source_not_beside_an_inserted_import() -> None:
    before = ["import torch", "", "class Net(nn.Module):", "    def forward(self, x):"]
    after = ["import mindspore", "from mindspore import nn", "import ms_migrate_helpers as helpers"]
    after += ["", "", "class Net(nn.Cell):", "    def construct(self, x):", "        pass"]
    pairs = [pair for unchanged, pair in pair_lines(before, after) if not unchanged]
    assert (0, 0) in pairs and (2, 5) in pairs and (3, 6) in pairs
    assert {(-1, 1), (-1, 2), (-1, 7)} <= set(pairs)
    every = [pair for _, pair in pair_lines(before, after)]
    assert sorted(i for i, _ in every if i >= 0) == list(range(len(before)))
    assert sorted(j for _, j in every if j >= 0) == list(range(len(after)))
