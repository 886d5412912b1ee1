"""The page: whole, self-contained, and readable with hundreds of layers."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np

from migrate.parity.check import Report
from migrate.parity.judge.compare import Comparison, Layer, Row
from migrate.parity.judge.diagnose import diagnose
from migrate.parity.judge.localize import forward_suspects
from migrate.parity.judge.tolerance import Judgement, Tolerance, judge
from migrate.parity.workers.structure import ModuleInfo, Variable
from migrate.report import parity_html

FAULT = 120
_VOID = {"meta", "input", "br", "line", "polyline", "polygon"}


class Balance(HTMLParser):
    """Fails on a tag that is closed where another is open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        if tag == "li" or tag == "p":
            while self.open[-1] != tag:
                self.open.pop()
        assert self.open.pop() == tag


def judged(error: float) -> Judgement:
    truth = np.linspace(1.0, 2.0, 8, dtype=np.float32)
    return judge(truth, truth * np.float32(1 + error), [1e-6, 1e-6], Tolerance())


def report(wrong: bool) -> Report:
    """A network of 240 layers; from the 120th on, all differ."""
    bad, good = judged(0.1), judged(1e-7)
    layers, rows, modules = [], [], {"": ModuleInfo("", "Net")}
    for number in range(240):
        path = f"stage{number // 40}.{number % 40}"
        modules.setdefault(f"stage{number // 40}", ModuleInfo(f"stage{number // 40}", "Seq"))
        variable = {"weight": Variable(f"{path}.weight", (8,), "float32", True)}
        modules[path] = ModuleInfo(path, "Conv2d<&>", "k=1", variables=variable)
        late, here = wrong and number > FAULT, wrong and number >= FAULT
        given, out = [bad if late else good], [bad if here else good]
        layers.append(Layer(path, path, 0, None, None, [], [], given, out, [good], [good]))
        rows.append(Row("layers", path, out[0]))
        rows.append(Row("gradients", f"{path}.weight", out[0]))
        if number % 40 == 39:
            whole = f"stage{number // 40}"
            layers.append(Layer(whole, whole, 0, None, None, [], [], given, out, [], []))
            rows.append(Row("layers", whole, out[0]))
    layers.append(Layer("", "", 0, None, None, [], [], [good], [good], [], []))
    same = {path: path for path in modules}
    found = Comparison("pynative", rows, layers, modules, modules, {"modules": same}, None, "")
    said = diagnose(found, found, forward_suspects(found), []) if wrong else None
    plan = {"inputs": [{"file": "", "shape": [1, 3], "dtype": "float32"}], "noise_runs": 6}
    plan |= {"train": True, "loss": "mse", "optimizer": "sgd", "steps": 1, "seed": 0, "amp": "O0"}
    return Report("t.py:Net", "m.py:Net", plan, {}, [found], {}, said, Tolerance(), [], 1.0)


def test_the_page_is_whole_and_needs_nothing_from_elsewhere() -> None:
    page = parity_html.render(report(wrong=True))
    balance = Balance()
    balance.feed(page)
    assert balance.open == []
    assert not re.search(r"https?:|//cdn|@import|url\(|<link|src=", page)
    assert "Conv2d&lt;&amp;&gt;" in page and "Conv2d<&>" not in page
    assert "prefers-color-scheme: dark" in page and len(page) < 2_000_000


def test_the_culprit_is_labelled_and_every_point_leads_to_its_row() -> None:
    page = parity_html.render(report(wrong=True))
    assert "First at stage3.0 (stage: layers)" in page
    assert re.search(r'<text class="first"[^>]*>stage3.0</text>', page)
    points = set(re.findall(r'<circle [^>]*data-key="([^"]+)"', page))
    # Each is drawn for wide windows and for narrow ones.
    assert page.count("<circle") == 2 * len(points)
    assert len(points) == 486 and points <= set(re.findall(r'<tr[^>]*data-key="([^"]+)"', page))
    # The tree is open along the way to the culprit and nowhere else.
    opened = re.findall(r"<details open><summary><span[^>]*>[^<]*</span><span[^>]*><b>(\w+)", page)
    assert opened == ["stage3"]


def test_a_clean_page_says_so_and_draws_the_floor() -> None:
    page = parity_html.render(report(wrong=False))
    assert '<h1 class="good">Parity</h1>' in page and 'class="first"' not in page
    assert page.count('<polyline class="floor"') == 4
