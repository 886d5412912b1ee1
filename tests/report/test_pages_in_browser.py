"""The pages in a real browser: sorting, filters, theme, links, widths; hostile names stay text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from migrate.cli import main
from migrate.parity.check import Report
from migrate.parity.judge.compare import Row
from migrate.preflight import result as preflight
from migrate.report import parity_html, preflight_html
from tests.parity.test_page import judged, report
from tests.report.browser import MISSING, Browser, browser

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = '<img src=x onerror="document.title=1">'
SOURCE = f"""import torch


def f(x: torch.Tensor):
    "{HOSTILE.replace('"', "'")}</td><script>document.title=2</script>"
    return torch.nonesuch(x), torch.cat([x, x], dim=1)  # </script>


torch.zeros(2, nonesuch=3)  # its message holds a long word
"""


@pytest.fixture(scope="module")
def page() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    source = folder / "src"
    source.mkdir()
    (source / f"{HOSTILE}.py").write_text(SOURCE)
    for name in ("lenet.py", "losses.py", "train.py"):
        (source / name).write_bytes((ROOT / "reference_pt" / name).read_bytes())
    made = {name: folder / f"{name}.html" for name in ("analyze", "port", "parity", "preflight")}
    parity_html.write(parity_report(), made["parity"])
    preflight_html.write(preflight_report(source), made["preflight"])
    main(["analyze", str(source), "-o", str(made["analyze"]), "-q"])
    main(["port", str(source), "--check", "--report", str(made["port"]), "-q"])
    return made


def parity_report() -> Report:
    """A check of many layers with loss curves, whose names come from a hostile file."""
    made = report(wrong=True)
    made.torch, made.plan["steps"] = f"{HOSTILE}.py:Net", 3
    for step in range(3):
        name = f"loss of step {step + 1}" if step else "loss"
        made.comparisons[0].rows.append(Row("curve" if step else "loss", name, judged(0.1 * step)))
    return made


def preflight_report(source: Path) -> preflight.Report:
    """A dry run that is refused in one mode, at a line of the hostile file."""
    place = preflight.Place(str(source / f"{HOSTILE}.py"), 6)
    kernels = Counter({preflight.Kernel(HOSTILE, preflight.Kind.AI_CPU, place): 2})
    found = preflight.Finding(preflight.Problem.NO_KERNEL, HOSTILE, "no kernel", [place])
    runs = [preflight.Run("pynative", kernels, [found], peak_bytes=2**20, complete=False)]
    runs += [preflight.Run("graph", kernels)]
    return preflight.Report("net.py:Net", "2.10.0", "Ascend910B2", runs, {place: place})


@pytest.mark.parametrize("name", ["analyze", "port", "parity", "preflight"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_stands_alone(name: str, width: int, page: Browser, pages: dict[str, Path]) -> None:
    page.log("browser")
    page.requests()
    page.open(pages[name], width)
    assert [entry["message"] for entry in page.log("browser")] == []
    asked = page.requests()
    assert asked
    assert [url for url in asked if not url.startswith("file:")] == []
    # Nothing but tables, which scroll by themselves, is wider than the window.
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run("return document.title.length") > 5
    assert page.run("return document.querySelectorAll('img').length") == 0
    assert HOSTILE in page.run("return document.body.textContent")
    assert pages[name].stat().st_size < 1_000_000


def test_tables_of_an_analysis_fit_a_phone(page: Browser, pages: dict[str, Path]) -> None:
    page.open(pages["analyze"], 390)
    hidden = (
        "return [...document.querySelectorAll('table.sort')]"
        ".filter(t => t.scrollWidth > t.parentNode.clientWidth).map(t => t.id)"
    )
    assert page.run(hidden) == []
    row = "document.querySelector('#operators tbody tr')"
    assert page.run(f"return getComputedStyle({row}).display") == "flex"
    page.run(f"{row}.hidden = true")
    assert page.run(f"return getComputedStyle({row}).display") == "none"


def test_sorting(page: Browser, pages: dict[str, Path]) -> None:
    page.open(pages["analyze"])
    script = (
        "const head = document.querySelectorAll('#files th')[1];"
        "head.querySelector('button').click();"
        "return [head.getAttribute('aria-sort'), [...document.querySelectorAll("
        "'#files tbody tr')].map(row => parseInt(row.cells[1].textContent))]"
    )
    order, first = page.run(script)
    assert (order, first) == ("descending", sorted(first, reverse=True))
    order, second = page.run(script)
    assert (order, second) == ("ascending", sorted(first))
    assert len(set(first)) > 1


BOX = """document.querySelector('[data-rows="#operators tbody tr"]')"""


def test_filters(page: Browser, pages: dict[str, Path]) -> None:
    page.open(pages["analyze"])
    shown = "return [...document.querySelectorAll('#operators tbody tr')].filter(r => !r.hidden)"
    everything = page.run(f"{shown}.length")
    page.run(
        f"const box = {BOX}.querySelector('[type=search]'); box.value = 'relu';"
        "box.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    names = page.run(f"{shown}.map(r => r.cells[0].textContent)")
    assert 0 < len(names) < everything
    assert all("relu" in name.lower() for name in names)
    page.run(
        f"{BOX}.querySelector('[type=search]').value = '';"
        f"{BOX}.querySelector('[data-kind=supported]').click()"
    )
    assert page.run(f"{shown}.filter(r => r.dataset.kind == 'supported').length") == 0
    assert page.run(f"{shown}.length") > 0


def test_theme_and_keyboard(page: Browser, pages: dict[str, Path]) -> None:
    page.open(pages["port"])
    colour = "return getComputedStyle(document.body).backgroundColor"
    before = page.run(colour)
    page.run("document.getElementById('theme').click()")
    assert page.run(colour) != before
    controls = "[...document.querySelectorAll('button, a, input, summary')]"
    assert page.run(f"return {controls}.every(one => one.tabIndex >= 0)")


def test_the_port_is_shown_beside_the_source(page: Browser, pages: dict[str, Path]) -> None:
    page.open(pages["port"])
    rows = page.run(
        "return [...document.querySelectorAll('.diff tr')].map(r => "
        "[...r.cells].map(c => c.textContent))"
    )
    changed = {(row[1].strip(), row[3].strip()): row[4] for row in rows if len(row) == 5}
    pair = ("class LeNet5(nn.Module):", "class LeNet5(nn.Cell):")
    assert "torch.nn.Module" in changed[pair]
    assert any("torch.cat" in old and "row torch.cat" in why for (old, _), why in changed.items())
    assert any("ops.cat" in new for _, new in changed)
    said = page.run("return [...document.querySelectorAll('tr.said')].map(r => r.textContent)")
    assert any("MS303" in text and "torch.nonesuch" in text for text in said)
    missing = "!document.querySelector(a.getAttribute('href'))"
    anchors = """[...document.querySelectorAll('a[href^="#"]')]"""
    assert page.run(f"return {anchors}.filter(a => {missing}).length") == 0


def test_links_lead_to_sources(page: Browser, pages: dict[str, Path]) -> None:
    page.open(pages["analyze"])
    links = page.run("return [...document.querySelectorAll('#files a')].map(a => a.href)")
    assert links
    assert all(Path(unquote(urlparse(link).path)).is_file() for link in links)


def test_points_of_a_chart_tell_their_numbers_and_lead_to_their_rows(
    page: Browser, pages: dict[str, Path]
) -> None:
    page.open(pages["parity"])
    shown = page.run(
        "return [...document.querySelectorAll('figure')].map(f => [...f.querySelectorAll('svg')]"
        ".filter(s => s.getBoundingClientRect().width > 0).length)"
    )
    assert shown and set(shown) == {1}  # the drawing for this width, and no other
    dot = "document.querySelectorAll('svg.wide circle.bad')[0]"
    page.run(f"{dot}.dispatchEvent(new Event('mouseenter'))")
    said = page.run(f"return {dot}.closest('figure').querySelector('.said').textContent")
    assert "stage3.0" in said and "times the floor" in said
    page.run(f"{dot}.dispatchEvent(new Event('click'))")
    row = page.run("return document.querySelector('tr.here').cells[0].textContent")
    assert row.startswith("stage3.0")
    page.open(pages["parity"], 390)
    # Letters keep their size on a narrow screen.
    size = page.run(
        "const text = document.querySelector('svg.narrow text').getBoundingClientRect();"
        "return text.height"
    )
    assert size > 9


def test_a_dry_run_shows_its_verdicts_first(page: Browser, pages: dict[str, Path]) -> None:
    page.open(pages["preflight"], 390)
    tiles = page.run("return [...document.querySelectorAll('.tiles li')].map(t => t.textContent)")
    assert [tile.split("mode")[0].strip() for tile in tiles] == ["refusedpynative", "acceptedgraph"]
    assert "torch.nonesuch" in page.run("return document.querySelector('.where').textContent")
    # On the page for a phone, the verdicts stand on the first screen.
    top = "return document.querySelector('.tiles').getBoundingClientRect().top"
    assert page.run(top) < 600


def test_the_words_that_changed_are_marked(page: Browser, pages: dict[str, Path]) -> None:
    page.open(pages["port"])
    marks = page.run(
        "return [...document.querySelectorAll('.diff tr.changed')].map(r => [...r.cells].map("
        "c => [...c.querySelectorAll('mark')].map(m => m.textContent).join(' ')))"
    )
    assert ["", "Module", "", "Cell", ""] in marks


def test_one_chart_has_the_losses_of_all_modes(page: Browser, pages: dict[str, Path]) -> None:
    page.open(pages["parity"])
    chart = "[...document.querySelectorAll('figure')].find(f => f.querySelector('.curve'))"
    assert page.run(f"return {chart}.querySelectorAll('svg.wide .curve').length") == 2
    assert page.run(f"return {chart}.querySelector('figcaption').textContent") == (
        "solid: torch; dashed: MindSpore pynative"
    )
