"""Ask the forking process for cases, keep every answer, and go on where the last run stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from migrate import onednn
from migrate.errors import RequestError
from migrate.table.cache import directory


class Pool:
    """A running zygote; a context, so that it ends with us."""

    def __init__(self, jobs: int, variables: Mapping[str, str] | None = None) -> None:
        quiet = {"OMP_NUM_THREADS": "1", "GLOG_v": "4", "NO_COLOR": "1"}
        environment = {**os.environ, **quiet} if variables is None else dict(variables)
        environment |= onednn.settings(os.environ)
        root = str(Path(__file__).resolve().parent.parent.parent)
        environment["PYTHONPATH"] = os.pathsep.join(
            filter(None, [root, environment.get("PYTHONPATH", "")])
        )
        # A file, not a pipe: nobody reads it while the process runs, and a full pipe would stop it.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "migrate.verify.zygote", str(jobs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors if not os.environ.get("MS_MIGRATE_DEBUG") else None,
            env=environment,
        )
        head = self._answer()
        if head is None:
            raise RequestError(
                f"the frameworks could not be loaded: {self._last_words()}",
                next_step="run ms-migrate doctor; torch's databases need expecttest and hypothesis",
            )
        self.cases: dict[str, list[str]] = head["cases"]
        self.versions: dict[str, str] = head["versions"]

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *reason: object) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        if reason[0] is not None:
            self._process.terminate()
        self._process.wait()

    def run(
        self, keys: list[str], limit: float, cases: int = 1
    ) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Each case's notes, in the order in which they end; a key may stand for several cases."""
        assert self._process.stdin is not None
        for key in keys:
            request = json.dumps({"run": key, "limit": limit, "cases": cases}) + "\n"
            self._process.stdin.write(request.encode())
        self._process.stdin.flush()
        for _ in keys:
            answer = self._answer()
            if answer is None:
                raise RequestError(f"the worker ended early: {self._last_words()}")
            yield answer["done"], answer["notes"]

    def _answer(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def _last_words(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        text = self._errors.read().decode(errors="replace")
        lines = [line for line in text.splitlines() if line.strip()]
        return lines[-1] if lines else f"exit code {self._process.returncode}"


class Kept:
    """Notes of earlier runs, one file a case, good while the rows are what they were."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or directory() / "verify"

    def get(self, key: str, stamp: str, limit: float) -> list[dict[str, Any]] | None:
        """None too where a case ended in less time than it would have now."""
        try:
            kept = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if kept.get("stamp") != stamp:
            return None
        died = any("died" in note for note in kept["notes"])
        return None if died and kept.get("limit", 0.0) < limit else kept["notes"]

    def put(self, key: str, stamp: str, notes: list[dict[str, Any]], limit: float) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(key)
        beside = path.with_suffix(f".{os.getpid()}")
        text = json.dumps({"stamp": stamp, "limit": limit, "notes": notes})
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key.replace(':', '-').replace('/', '-')}.json"
