"""Files appear whole or not at all, through names that nobody can plant, one writer at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from migrate.errors import RequestError
from migrate.files import atomic, lock
from migrate.files.line_ends import with_line_ends_of


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(b"old")
    with pytest.raises(OSError), atomic.replacing(path) as stream:
        stream.write(b"new")
        raise OSError("disk full")
    assert path.read_bytes() == b"old" and names(tmp_path) == {"weights.bin"}


def test_a_link_at_the_target_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = tmp_path / "report.html"
    path.symlink_to(victim)
    atomic.write_text(path, "report")
    assert victim.read_text() == "precious" and path.read_text() == "report"
    assert not path.is_symlink()


def test_pipes_and_devices_are_not_replaced(tmp_path: Path) -> None:
    """With the rights of root, a report to /dev/null made an ordinary file of it."""
    pipe, link, made = tmp_path / "pipe", tmp_path / "link", tmp_path / "made"
    os.mkfifo(pipe)
    link.symlink_to("/dev/null")
    made.write_bytes(b"new")
    for target in (pipe, link):
        with pytest.raises(OSError, match="not replaced"):
            atomic.write_bytes(target, b"new")
        with pytest.raises(OSError, match="not replaced"):
            atomic.publish(made, target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "made", "pipe"]
    assert link.is_symlink() and not pipe.is_file()


def test_temporary_names_are_new_each_time_and_beside_the_target(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    found = {atomic.temporary_name(path) for _ in range(100)}
    assert len(found) == 100 and {name.parent for name in found} == {tmp_path}


def test_a_planted_link_under_the_temporary_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    planted = tmp_path / "planted"
    planted.symlink_to(victim)
    monkeypatch.setattr(atomic, "temporary_name", lambda path: planted)
    with pytest.raises(FileExistsError):
        atomic.write_bytes(tmp_path / "net.py", b"new")
    assert victim.read_text() == "precious"


def test_mode_is_that_of_the_earlier_file_or_of_any_new_one(tmp_path: Path) -> None:
    path = tmp_path / "run.py"
    path.write_text("old")
    path.chmod(0o751)
    atomic.write_bytes(path, b"new", like=path.stat())
    assert path.stat().st_mode & 0o777 == 0o751
    plain, ours = tmp_path / "plain", tmp_path / "ours"
    plain.touch()
    atomic.write_bytes(ours, b"")
    assert ours.stat().st_mode == plain.stat().st_mode


def test_long_and_undecodable_names(tmp_path: Path) -> None:
    for name in ("n" * 250, os.fsdecode(b"bad\xff.py"), "ü" * 120):
        atomic.write_bytes(tmp_path / name, b"data")
        assert (tmp_path / name).read_bytes() == b"data"


def test_a_tree_is_flushed_file_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pkg").mkdir()
    for name in ("a.py", "pkg/b.py"):
        (tmp_path / name).touch()
    (tmp_path / "link.py").symlink_to("absent.py")
    os.mkfifo(tmp_path / "pipe")
    flushed = []
    monkeypatch.setattr(
        os, "fsync", lambda file: flushed.append(os.readlink(f"/proc/self/fd/{file}"))
    )
    atomic.sync_tree(tmp_path)
    wanted = [tmp_path, tmp_path / "a.py", tmp_path / "pkg", tmp_path / "pkg/b.py"]
    assert sorted(flushed) == list(map(str, wanted))


# Locks ------------------------------------------------------------------------------------------


def test_the_second_writer_is_refused_and_the_lock_file_goes(tmp_path: Path) -> None:
    output = tmp_path / "model.ckpt"
    refused = pytest.raises(RequestError, match="another ms-migrate is writing")
    with lock.sole_writer(output), refused, lock.sole_writer(output):
        pass
    assert names(tmp_path) == set()


def test_a_lock_of_a_killed_process_blocks_nobody(tmp_path: Path) -> None:
    output = tmp_path / "model.ckpt"
    code = (
        "import os, signal, sys; from pathlib import Path; from migrate.files import lock, atomic\n"
        "output = Path(sys.argv[1])\n"
        "with lock.sole_writer(output), atomic.staging_directory(output) as folder:\n"
        "    (folder / 'half').write_text('x'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(output)], check=False)
    assert done.returncode == -9 and len(names(tmp_path)) == 2
    with lock.sole_writer(output):
        assert names(tmp_path) == {lock.lock_name(output).name}  # the staged half is gone
    assert names(tmp_path) == set()


def test_a_planted_link_as_lock_is_not_followed(tmp_path: Path) -> None:
    output = tmp_path / "model.ckpt"
    lock.lock_name(output).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RequestError), lock.sole_writer(output):
        pass
    assert not (tmp_path / "elsewhere").exists()


# Line ends --------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_one_kind_of_line_end(end: str) -> None:
    assert with_line_ends_of(f"a{end}b{end}", "a\nx\nb\n") == f"a{end}x{end}b{end}"


def test_mixed_line_ends_stay_on_unchanged_lines() -> None:
    before = "one\r\ntwo\nthree\rfour\r\nfive"
    after = "one\nTWO\nnew\nthree\nfour\nfive"
    assert with_line_ends_of(before, after) == "one\r\nTWO\nnew\nthree\rfour\r\nfive"
    assert with_line_ends_of(before, before.replace("\r\n", "\n").replace("\r", "\n")) == before
