"""Porting in place is a transaction: whatever moment it is killed at, nothing is lost."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate.errors import RequestError
from migrate.files import in_place
from migrate.files.in_place import JOURNAL, Write

OLD = {"net.py": b"old net\n", "pkg/block.py": b"old block\n", "run.py": b"#!x\n"}
NEW = {"net.py": b"new net\n", "pkg/block.py": b"new block\n", "helpers.py": b"new file\n"}
AFTER = OLD | NEW


@pytest.fixture(autouse=True)
def _no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda file: None)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return plant(tmp_path / "tree")


def plant(top: Path) -> Path:
    for name, data in OLD.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(data)
    (top / "net.py").chmod(0o755)
    return top


def content(top: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file()
    }


def lasting(top: Path) -> dict[str, bytes]:
    """Without what the next run clears away."""
    return {name: data for name, data in content(top).items() if ".ms-migrate" not in name}


def writes(top: Path) -> list[Write]:
    return [Write(top / name, data) for name, data in NEW.items()]


def killed_at(moment: int, run: Callable[[], object]) -> bool:
    """Run in a child that is killed at its nth call of the system's file operations."""
    child = os.fork()
    if child == 0:
        calls = 0
        for name in ("open", "replace", "link", "unlink", "mkdir", "rmdir", "fsync", "fchmod"):
            plain = getattr(os, name)

            def counted(
                *args: object, plain: Callable[..., object] = plain, **kw: object
            ) -> object:
                nonlocal calls
                calls += 1
                if calls == moment:
                    os.kill(os.getpid(), signal.SIGKILL)
                return plain(*args, **kw)

            setattr(os, name, counted)
        try:
            run()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def test_apply_keeps_modes_and_leaves_nothing_behind(tree: Path) -> None:
    in_place.apply(tree, writes(tree))
    assert content(tree) == AFTER
    assert (tree / "net.py").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("finish", ["resume", "rollback"])
def test_killed_at_any_moment(tmp_path: Path, finish: str) -> None:
    """Old, new, or a journal with which one command completes or undoes it."""
    states = {"old": 0, "new": 0, "journal": 0}
    for moment in range(1, 400):
        top = plant(tmp_path / str(moment))
        killed = killed_at(moment, lambda top=top: in_place.apply(top, writes(top)))
        if not killed:
            assert content(top) == AFTER
            break
        if in_place.find_journal(top) is None:
            found = lasting(top)
            state = "new" if found == AFTER else "old"
            assert found == (AFTER if state == "new" else OLD)
            in_place.apply(top, writes(top))  # what was left behind is in nobody's way
            assert content(top) == AFTER
        else:
            state = "journal"
            getattr(in_place, finish)(top)
            assert content(top) == (AFTER if finish == "resume" else OLD)
        states[state] += 1
    assert not killed and min(states.values()) > 0 and sum(states.values()) > 60


def test_killed_while_resuming_or_rolling_back(tmp_path: Path) -> None:
    """Back and forth, killed each time: the journal serves until one of them ends."""
    begun = 0
    for moment in range(1, 120):
        top = plant(tmp_path / str(moment))
        interrupt(top)
        killed_at(moment, lambda top=top: in_place.rollback(top))
        if in_place.find_journal(top) is None:
            assert lasting(top) == OLD
            break
        begun += 1
        killed_at(moment, lambda top=top: in_place.resume(top))
        if in_place.find_journal(top) is not None:
            in_place.resume(top)
        assert lasting(top) == AFTER
    assert begun > 5


def interrupt(top: Path) -> None:
    """Kill a run when its first file is in place and its last is not."""

    def run() -> None:
        plain = in_place._place

        def first_only(staged: Path, path: Path) -> None:
            plain(staged, path)
            os.kill(os.getpid(), signal.SIGKILL)

        in_place._place = first_only
        in_place.apply(top, writes(top))

    assert killed_at(0, run) and in_place.find_journal(top)
    assert content(top)["net.py"] == NEW["net.py"] and "helpers.py" not in content(top)


def test_the_next_run_says_what_to_do(tree: Path) -> None:
    interrupt(tree)
    with pytest.raises(RequestError) as caught:
        in_place.apply(tree / "pkg", [])
    assert "--resume" in str(caught.value) and "--rollback" in str(caught.value)


def test_a_file_that_was_edited_meanwhile_is_not_overwritten(tree: Path) -> None:
    interrupt(tree)
    (tree / "net.py").write_bytes(b"mine\n")
    for finish in (in_place.resume, in_place.rollback):
        with pytest.raises(RequestError, match="was changed after"):
            finish(tree)
    assert (tree / "net.py").read_bytes() == b"mine\n"


@pytest.mark.parametrize("path", ["../victim", "/victim", "link/victim", "a/../../victim", ""])
def test_a_planted_journal_writes_nothing_outside(tree: Path, path: str) -> None:
    victim = tree.parent / "victim"
    victim.write_bytes(b"precious")
    (tree / "link").symlink_to(tree.parent, target_is_directory=True)
    for folder in (tree / JOURNAL, tree / JOURNAL / "new", tree / JOURNAL / "old"):
        folder.mkdir()
    (tree / JOURNAL / "new/1").write_bytes(b"evil")
    entry = {
        "path": path,
        "before": hashlib.sha256(b"precious").hexdigest(),
        "after": hashlib.sha256(b"evil").hexdigest(),
    }
    listed = {"format": "ms-migrate in-place journal 1", "entries": [entry]}
    (tree / JOURNAL / "journal.json").write_text(json.dumps(listed))
    with pytest.raises(RequestError, match="not a journal"):
        in_place.resume(tree)
    assert victim.read_bytes() == b"precious"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": 1}', '{"entries": [{}]}', "\xff", "[" * 100_000],
    ids=lambda text: text[:20],
)
def test_a_damaged_journal_is_refused(tree: Path, text: str) -> None:
    (tree / JOURNAL).mkdir()
    (tree / JOURNAL / "journal.json").write_text(text)
    with pytest.raises(RequestError, match="not a journal"):
        in_place.rollback(tree)
    assert content(tree)["net.py"] == OLD["net.py"]


def test_nothing_to_finish(tree: Path) -> None:
    for finish in (in_place.resume, in_place.rollback):
        with pytest.raises(RequestError, match="no interrupted"):
            finish(tree)
