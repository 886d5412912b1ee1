"""Measure which lines and branches of migrate/ the tests run, and write docs/results/coverage.md.

    python -m tests.coverage_run [--store FOLDER] [--slow] [--minutes M] [--page]

The tests run in parts; what a part has run is kept, so that a run that was stopped goes on. First
come the tests without frameworks; --slow runs those with them too. Processes that tests start are
measured as well. The helper definitions are left out: they run as the text that port emits, and are
compared with torch there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from datetime import date
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
_FILES = 8  # test files a part
_PARTS = {"quick": "not frameworks", "slow": "frameworks"}
_MOST = 25


def parts() -> list[list[str]]:
    files = sorted(path.relative_to(CHECKOUT) for path in (CHECKOUT / "tests").rglob("test_*.py"))
    return [[str(p) for p in files[at : at + _FILES]] for at in range(0, len(files), _FILES)]


def run_part(files: list[str], kind: str, data: Path) -> str:
    """The last line of pytest; what a failed test has run counts as well."""
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m"]
    command = [sys.executable, "-m", "coverage", "run", f"--data-file={data}", *words]
    done = subprocess.run(
        [*command, _PARTS[kind], *files], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    return (done.stdout.strip().splitlines() or [done.stderr.strip()[-200:]])[-1]


def measured(store: Path) -> dict[str, Any]:
    """All parts together, as coverage's own JSON."""
    tool = [sys.executable, "-m", "coverage"]
    every = store / "all"
    data = [str(path) for path in store.glob("*.data*")]
    subprocess.run(
        [*tool, "combine", "--keep", "--quiet", f"--data-file={every}", *data],
        cwd=CHECKOUT,
        check=True,
    )
    out = store / "all.json"
    subprocess.run(
        [*tool, "json", "--quiet", f"--data-file={every}", "-o", str(out)], cwd=CHECKOUT, check=True
    )
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found


def page(found: dict[str, Any], done: dict[str, Any]) -> str:
    total, all_parts = found["totals"], len(parts())
    ran = {kind: sum(1 for key in done if key.startswith(kind)) for kind in _PARTS}
    lines = [
        "# Coverage of migrate/ by the tests",
        "",
        "<!-- Made by `make coverage`. -->",
        "",
        f"Lines and branches that the tests run, by coverage {found['meta']['version']} on Python "
        f"3.11; {date.today()}. Processes",
        "that tests start are measured; the helper definitions (`migrate/emit/helpers`) are not "
        "part of it: they run as the",
        "text that `port` emits.",
        "",
        f"Tests without frameworks: {ran['quick']} of {all_parts} parts were run; tests with them: "
        f"{ran['slow']} of {all_parts}.",
    ]
    if min(ran.values()) < all_parts:
        lines += ["**This is not the whole suite**: the true numbers are higher."]
    lines += ["", "| | lines | run | branches | run | together |", "|---|---|---|---|---|---|"]
    lines.append(_row("**all**", total))
    folders: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for name, file in found["files"].items():
        words = Path(name).parts
        folder = "/".join(words[:2]) if len(words) > 2 else "migrate"
        for key, value in file["summary"].items():
            if isinstance(value, int):
                folders[folder][key] += value
    lines += [_row(f"`{name}`", counts) for name, counts in sorted(folders.items())]
    lines += ["", "## What is run least", "", "| file | lines not run | branches not taken | run |"]
    lines.append("|---|---|---|---|")
    files = sorted(found["files"].items(), key=lambda item: -_missing(item[1]["summary"]))
    for name, file in files[:_MOST]:
        counts = file["summary"]
        if _missing(counts):
            lines.append(
                f"| `{name}` | {counts['missing_lines']} | {counts['missing_branches']} "
                f"| {counts['percent_covered']:.0f}% |"
            )
    failed = {key: said for key, said in done.items() if "failed" in said or "error" in said}
    if failed:
        lines += ["", "## Parts with tests that failed", ""]
        lines += [f"- {key}: {said.strip('= ')}" for key, said in sorted(failed.items())]
    return "\n".join(lines) + "\n"


def _missing(counts: dict[str, Any]) -> int:
    return int(counts["missing_lines"] + counts["missing_branches"])


def _row(name: str, counts: dict[str, Any]) -> str:
    lines, branches = counts["num_statements"], counts["num_branches"]
    run, taken = counts["covered_lines"], counts["covered_branches"]
    share = 100 * (run + taken) / max(1, lines + branches)
    return f"| {name} | {lines:,} | {run:,} | {branches:,} | {taken:,} | {share:.1f}% |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", type=Path, default=CHECKOUT / ".venv" / "coverage")
    parser.add_argument("--slow", action="store_true", help="the tests with frameworks, too")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no part after so many")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    store: Path = options.store.resolve()
    store.mkdir(parents=True, exist_ok=True)
    listed = store / "done.json"
    done: dict[str, Any] = json.loads(listed.read_text()) if listed.is_file() else {}
    end = time.monotonic() + 60 * options.minutes
    for kind in _PARTS if options.slow else ("quick",):
        for number, files in enumerate(parts()):
            key = f"{kind} {number}: {files[0]}"
            if options.page or key in done or time.monotonic() > end:
                continue
            done[key] = run_part(files, kind, store / f"{kind}_{number}.data")
            print(f"{key}: {done[key]}", file=sys.stderr, flush=True)
            listed.write_text(json.dumps(done, indent=1), encoding="utf-8")
    text = page(measured(store), done)
    (CHECKOUT / "docs" / "results" / "coverage.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
