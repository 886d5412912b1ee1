"""Fuzz `analyze` and `port` with real packages, and write docs/results/fuzz.md.

    python -m tests.fuzz.run [--input FOLDER] [--limit SECONDS] [PACKAGE...]

The input is the standard library, every installed package, and what tests.fuzz.download put into
FOLDER. Each package is a project of its own. Results go to a file of JSON lines, one for each file,
so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from migrate.analyze.collect import Analyser
from migrate.analyze.model import Options as AnalyzeOptions
from migrate.emit.bundle import helper_module
from migrate.port.file import PortedFile
from migrate.port.layout import places
from migrate.port.porter import Options, Porter
from migrate.project import SourceFile, discover
from migrate.resolve.torch_reach import TorchReach
from migrate.syntax.import_planner import HELPER_MODULE, HELPERS
from migrate.table import Table
from tests.fuzz.check_file import Checked, check_file
from tests.fuzz.download import TORCH
from tests.fuzz.page import write_page

_LARGE = 250  # files; of a package with more, each folder is a project of its own
CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Package:
    """Sources that belong together."""

    name: str
    paths: list[Path]


def packages(folder: Path | None) -> Iterator[Package]:
    """Every package that was downloaded, those that are built on torch first, then of the standard
    library and of what is installed.
    """
    if folder is not None:
        on_torch = {name.replace("-", "_") for name in TORCH.split()}
        for path in sorted(
            (folder / "packages").iterdir(), key=lambda path: (path.name not in on_torch, path.name)
        ):
            yield from _parts(f"downloaded/{path.name}", path)
    places = sysconfig.get_paths()
    for kind, place in (("stdlib", places["stdlib"]), ("installed", places["purelib"])):
        found = sorted(Path(place).iterdir())
        yield Package(f"{kind}/modules", [path for path in found if path.suffix == ".py"])
        for path in found:
            if path.name not in ("site-packages", "__pycache__") and _holds_python(path):
                yield from _parts(f"{kind}/{path.name}", path)


def _all_files(folder: Path | None) -> int:
    """How many files all packages have; tests that are broken on purpose are among them."""
    chosen = (discover(package.paths) for package in packages(folder) if package.paths)
    return sum(len(project.files) for project in chosen)


def _parts(name: str, path: Path) -> Iterator[Package]:
    inside = sorted(path.iterdir())
    if len(inside) == 1 and inside[0].is_dir():  # an unpacked wheel
        yield from _parts(name, inside[0])
    elif sum(1 for _ in path.rglob("*.py")) <= _LARGE:
        yield Package(name, [path])
    else:
        yield Package(f"{name}/modules", [one for one in inside if one.suffix == ".py"])
        for one in inside:
            if one.name != "__pycache__" and _holds_python(one):
                yield from _parts(f"{name}/{one.name}", one)


def _holds_python(path: Path) -> bool:
    return path.is_dir() and any(path.rglob("*.py"))


def check_package(
    package: Package,
    table: Table,
    options: argparse.Namespace,
    work: Path,
    done: Container[str] = (),
) -> Iterator[Checked]:
    """The files of a package, then the port of what came out, which must change nothing.

    A sample of a package is not ported again: what its files import would be missing.
    """
    if not package.paths:
        return
    project = discover(package.paths)
    analyser = Analyser(project, table, AnalyzeOptions("", "both", "supported", ""))
    usual = Porter(project, table, Options(jobs=1))
    thorough = Porter(project, table, Options(jobs=1), everything=True)
    place_of = dict(places(package.paths, project.files))
    reach = TorchReach(project, table.packages)
    concerned = [source for source in project.files if reach.concerns(source)]
    every = max(1, -(-len(concerned) // options.most_torch))
    left_out = set(concerned) - set(concerned[::every])
    chosen = [source for source in project.files if source not in left_out]
    out = work / "out"
    changed: dict[str, Checked] = {}
    needed: dict[str, None] = {}
    generated: dict[str, str] = {}
    for number, source in enumerate(chosen):
        if str(source.path) in done:
            continue
        # Files that cannot meet torch are not interpreted; some of them are, to see what happens.
        extra = number % options.thorough == 0 and not reach.concerns(source)
        port = partial(_port, thorough if extra else usual)
        checked, ported = check_file(source, analyser, port, options.limit, interpreted=extra)
        if ported is not None and ported.changed and not extra and every == 1:
            place = out / place_of[source]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(ported.encoded())
            changed[str(place)] = checked
            needed |= dict.fromkeys(ported.helpers)
            generated |= ported.generated
        else:
            yield checked
    for checked in changed.values():
        checked.twice = True
    if changed:
        (out / f"{HELPER_MODULE}.py").write_text(helper_module(list(needed), generated))
        for name, text in _ported_again(out, table, options.limit):
            if name in changed:
                changed[name].problems.append(f"ported again: {text}")
    shutil.rmtree(out, ignore_errors=True)
    yield from changed.values()


def _port(porter: Porter, source: SourceFile) -> PortedFile:
    return porter.port(source, f"import {HELPER_MODULE} as {HELPERS}")


def _ported_again(out: Path, table: Table, seconds: float) -> Iterator[tuple[str, str]]:
    project = discover([out])
    analyser = Analyser(project, table, AnalyzeOptions("", "both", "supported", ""))
    porter = Porter(project, table, Options(jobs=1))
    for source in project.files:
        checked, ported = check_file(source, analyser, partial(_port, porter), seconds)
        if ported is not None and ported.changed:
            yield str(source.path), _first_change(source.read(), ported.text)
        elif any(problem.startswith(("hang", "crash")) for problem in checked.problems):
            yield str(source.path), checked.problems[0]


def _first_change(before: str, after: str) -> str:
    pairs = zip(before.split("\n"), after.split("\n"), strict=False)
    old, new = next(((a, b) for a, b in pairs if a != b), ("", ""))
    return f"{old.strip()[:90]!r} became {new.strip()[:90]!r}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PACKAGE", help="only these")
    parser.add_argument("--input", type=Path, help="the folder that tests.fuzz.download filled")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one file")
    parser.add_argument(
        "--most-torch", type=int, default=10**9, help="of one package, files that may meet torch"
    )
    parser.add_argument(
        "--thorough", type=int, default=15, help="interpret every so many of the files without it"
    )
    parser.add_argument("--results", type=Path, default=Path("fuzz.jsonl"))
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so many")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    done = set()
    if options.results.exists():
        lines = options.results.read_text(encoding="utf-8").splitlines()
        done = {row["path"] or row["package"] for row in map(json.loads, lines)}
    table = Table()
    end = time.monotonic() + 60 * options.minutes
    with (
        options.results.open("a", encoding="utf-8") as stream,
        tempfile.TemporaryDirectory() as work,
    ):
        for package in packages(options.input):
            name = package.name
            wanted = not options.names or name.split("/")[1] in options.names
            if options.page or name in done or not wanted:
                continue
            if time.monotonic() > end:
                break
            found = []
            for checked in check_package(package, table, options, Path(work), done):
                stream.write(json.dumps({"package": name, **asdict(checked)}) + "\n")
                stream.flush()
                found.append(checked)
                if time.monotonic() > end:
                    break
            else:
                stream.write(json.dumps({"package": name, "path": ""}) + "\n")  # finished
            bad = Counter(p.partition(":")[0] for c in found for p in c.problems)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(f"{name}: {len(found)} files, {peak} MiB at peak, {dict(bad)}", file=sys.stderr)
    write_page(options.results, CHECKOUT / "docs/results/fuzz.md", _all_files(options.input))
    return 0


if __name__ == "__main__":
    sys.exit(main())
