"""Port torchvision's models, then compare one training step of every builder with torch.

python tests/zoo/run.py                     what has no result yet, then write the page
python tests/zoo/run.py --only 'resnet.*'   these builders, again
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(CHECKOUT)]

from catalog import Case, cases  # noqa: E402
from check_one import agrees, check_case  # noqa: E402
from table import write_page  # noqa: E402

from migrate.parity.workers import worker  # noqa: E402
from tests.nursery import Nursery  # noqa: E402

_GIANT = 100_000_000  # parameters


def main() -> int:
    options = _options()
    # Both sides' workers may import torchvision: see shim/sitecustomize.py.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE / "shim"), str(CHECKOUT)])
    cache: Path = options.cache
    cache.mkdir(parents=True, exist_ok=True)
    wanted = cases()
    # Beside the page, so that a sweep that was stopped goes on anywhere.
    store: Path = options.output.with_suffix(".json")
    results: dict[str, Any] = json.loads(store.read_text()) if store.is_file() else {}
    if options.fresh:
        results = {}
    due = [case for case in wanted if _is_due(case, options, results)]
    chosen = _in_order(due, wanted)
    package = cache / "ported"
    if chosen and not (options.keep_port and package.is_dir()):
        _port(package)
    lock = threading.Lock()
    nursery = Nursery()
    worker.start = nursery.start  # type: ignore[assignment]

    def run(case: Case) -> None:
        row = check_case(
            case,
            package,
            cache / "steps" / case.name,
            noise_runs=options.noise_runs,
            timeout=options.timeout,
        )
        with lock:
            results[case.name] = row
            pending = store.with_suffix(".part")
            pending.write_text(_a_row_a_line(results), encoding="utf-8")
            pending.replace(store)
            _write_page(options, wanted, results)  # a sweep that is stopped has its page, too
            verdict = "agrees" if agrees(row) else f"FAILS {row['cause']}"
            print(f"{case.name:32} {row['seconds']:7.1f} s  {verdict}", file=sys.stderr, flush=True)

    try:
        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(run, chosen))
    finally:
        nursery.close()
    _write_page(options, wanted, results)
    failed = [case.name for case in wanted if not agrees(results.get(case.name, {"modes": {}}))]
    print(f"{len(wanted) - len(failed)} of {len(wanted)} builders agree in both modes")
    return 1 if failed else 0


def _a_row_a_line(results: dict[str, Any]) -> str:
    rows = [f"{json.dumps(name)}: {json.dumps(results[name])}" for name in sorted(results)]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _write_page(options: argparse.Namespace, wanted: list[Case], results: dict[str, Any]) -> None:
    write_page(options.output, wanted, results, "make zoo", options.noise_runs)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", metavar="PATTERN", help="builders whose whole name fits")
    parser.add_argument("--failed", action="store_true", help="also those that failed before")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="builders at a time")
    parser.add_argument("--noise-runs", type=int, default=6, metavar="N")
    parser.add_argument("--timeout", type=float, default=1800.0, metavar="S", help="per process")
    parser.add_argument("--keep-port", action="store_true", help="do not port again")
    parser.add_argument("--cache", type=Path, default=_cache(), metavar="DIR")
    parser.add_argument(
        "--output", type=Path, default=CHECKOUT / "docs" / "results" / "zoo.md", metavar="FILE"
    )
    return parser.parse_args()


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "ms-migrate" / "zoo"


def _is_due(case: Case, options: argparse.Namespace, results: dict[str, Any]) -> bool:
    if options.only:
        return re.fullmatch(options.only, case.name) is not None
    row = results.get(case.name)
    return row is None or (options.failed and not agrees(row))


def _in_order(due: list[Case], wanted: list[Case]) -> list[Case]:
    """The smallest of each family first, then the next: what fails shows early, and the giants come
    at the end.
    """
    families: dict[str, list[Case]] = {}
    for case in sorted(wanted, key=lambda case: case.size):
        families.setdefault(case.module, []).append(case)
    place = {case.name: at for family in families.values() for at, case in enumerate(family)}
    return sorted(due, key=lambda case: (case.size > _GIANT, place[case.name], case.size))


def _port(package: Path) -> None:
    """`ms-migrate port` on the installed package; what is left to do there is no failure here."""
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "import importlib.util as u; print(u.find_spec('torchvision').origin)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    models = Path(found.stdout.strip()).parent / "models"
    shutil.rmtree(package, ignore_errors=True)
    command = [sys.executable, "-m", "migrate", "port", str(models), "-o", str(package)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 2 or not package.is_dir():
        raise SystemExit(f"port failed:\n{done.stdout}{done.stderr}")
    print(done.stdout.splitlines()[-1], file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
