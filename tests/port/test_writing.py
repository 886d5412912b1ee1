"""What `port` writes, where, and what it refuses to lose: found by attack, kept as tests."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from migrate.cli import main
from migrate.files import in_place
from migrate.files.lock import sole_writer
from migrate.port import tree

NET = "import torch\n\nx = torch.relu(torch.ones(2))\n"
PLAIN = "print('no torch')\n"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Give `run(*words)`: exit code, stdout and stderr of `ms-migrate port`."""

    def call(*words: object) -> tuple[int, str, str]:
        code = main(["port", *map(str, words)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def src(tmp_path: Path) -> Path:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "net.py").write_text(NET)
    return folder


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all")


def ported(path: Path) -> bool:
    return "import mindspore" in path.read_text() or "from mindspore" in path.read_text()


# Code that must not run -------------------------------------------------------------------------


def test_in_place_runs_nothing_that_the_tree_configures(
    run: Run, src: Path, tmp_path: Path
) -> None:
    commit(src)
    ran = tmp_path / "ran"
    hook = src / ".git/evil"
    hook.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    hook.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "filter.evil.clean", "core.editor"):
        git(src, "config", key, str(hook))
    git(src, "config", "core.hooksPath", str(src / ".git"))
    (src / ".git/info/attributes").write_text("*.py filter=evil\n")
    os.utime(src / "net.py", (1, 1))  # git status would have to read, and filter, the file
    assert run(src, "--in-place")[0] == 0
    assert ported(src / "net.py") and not ran.exists()


def test_in_place_starts_no_process(run: Run, src: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(src)

    def refuse(*args: object, **named: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
    monkeypatch.setattr(os, "posix_spawn", refuse)
    assert run(src, "--in-place")[0] == 0


# Files that must not be lost --------------------------------------------------------------------


def test_planted_links_under_old_temporary_names_are_not_opened(
    run: Run, src: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    commit(src)
    for name in (".net.py.ms-migrate", ".net.py.part", ".ms_migrate_helpers.py.ms-migrate"):
        (src / name).symlink_to(victim)
    assert run(src, "--in-place")[0] == 0
    assert victim.read_text() == "precious" and ported(src / "net.py")


def test_ignored_and_untracked_files_are_refused_or_backed_up(run: Run, src: Path) -> None:
    (src / ".gitignore").write_text("secret.py\n")
    commit(src)
    (src / "secret.py").write_text(NET)
    code, _, err = run(src, "--in-place")
    assert code == 2 and "secret.py" in err and "not tracked" in err and "--backup" in err
    assert (src / "secret.py").read_text() == (src / "net.py").read_text() == NET
    code, _, err = run(src, "--in-place", "--backup")
    assert code == 0 and ported(src / "secret.py") and ported(src / "net.py")
    (kept,) = src.glob(".ms-migrate-backup-*")
    assert str(kept) in err
    assert {path.name: path.read_text() for path in kept.iterdir()} == {
        "net.py": NET,
        "secret.py": NET,
    }


def test_untracked_files_that_do_not_change_are_no_obstacle(run: Run, src: Path) -> None:
    commit(src)
    (src / "notes.py").write_text(PLAIN)
    assert run(src, "--in-place")[0] == 0


def test_in_place_never_writes_through_links_out_of_the_tree(
    run: Run, src: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs.py").write_text(NET)
    (src / "folder").symlink_to(outside, target_is_directory=True)
    (src / "file.py").symlink_to(outside / "theirs.py")
    code, out, _ = run(src, "--in-place", "--force")
    assert code == 1 and "MS210" in out
    assert (outside / "theirs.py").read_text() == NET and ported(src / "net.py")
    assert (src / "file.py").is_symlink() and (src / "folder").is_symlink()
    code, _, err = run(src / "file.py", "--in-place", "--force")
    assert code == 2 and "is a link" in err and (outside / "theirs.py").read_text() == NET


def test_in_place_keeps_the_executable_bit(run: Run, src: Path) -> None:
    (src / "net.py").chmod(0o755)
    run(src, "--in-place", "--force")
    assert ported(src / "net.py") and (src / "net.py").stat().st_mode & 0o777 == 0o755


def test_in_place_from_elsewhere_keeps_the_helpers_that_other_files_use(
    run: Run, src: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (src / "one.py").write_text("from torch import nn\n\nlayer = nn.Hardtanh()\n")
    (src / "two.py").write_text("import torch\n\ny = torch.logcumsumexp(torch.ones(2), 0)\n")
    monkeypatch.chdir(tmp_path)
    run(src / "one.py", "--in-place", "--force")
    helpers = src / "ms_migrate_helpers.py"
    first = helpers.read_text() if helpers.exists() else ""
    run(src / "two.py", "--in-place", "--force")
    names = [
        line.split("(")[0] for line in first.splitlines() if line.startswith(("class ", "def "))
    ]
    assert all(name in helpers.read_text() for name in names)


@pytest.mark.parametrize("ends", [("\r",), ("\r\n",), ("\r\n", "\n"), ("\n", "\r", "\r\n")])
def test_line_ends_stay_byte_for_byte(run: Run, src: Path, ends: tuple[str, ...]) -> None:
    body = [f"a{n} = {n}  # line {n}" for n in range(12)]
    lines = ["import torch", *body, "x = torch.relu(torch.ones(2))", *body]
    data = "".join(line + ends[n % len(ends)] for n, line in enumerate(lines)).encode()
    (src / "net.py").write_bytes(b"\xef\xbb\xbf" + data)
    run(src, "--in-place", "--force")
    new = (src / "net.py").read_bytes()
    assert new.startswith(b"\xef\xbb\xbf") and b"mindspore" in new
    before = [n + 1 for n in range(12)] + [n + 14 for n in range(12)]
    for number in before:
        assert (lines[number] + ends[number % len(ends)]).encode() in new
    assert {"\r": new.count(b"\r") - new.count(b"\r\n")}["\r"] >= data.count(b"\r") - data.count(
        b"\r\n"
    ) - 2


def test_an_encoding_that_does_not_round_trip_is_left_alone(run: Run, src: Path) -> None:
    text = f"# coding: utf-7\n# +AOk-\n{NET}"
    (src / "odd.py").write_text(text)
    code, out, _ = run(src, "--in-place", "--force")
    assert code == 1 and "MS204" in out
    assert (src / "odd.py").read_text() == text and ported(src / "net.py")


def editing(monkeypatch: pytest.MonkeyPatch, edit: Callable[[], object]) -> None:
    """Something else changes the sources when they have been ported and are not written yet."""
    plain = tree._port_all

    def ported(*words: object) -> object:
        result = plain(*words)
        edit()
        return result

    monkeypatch.setattr(tree, "_port_all", ported)


@pytest.mark.parametrize("words", [("--in-place", "--force"), ("--in-place", "--backup"), ("-o",)])
@pytest.mark.parametrize("name", ["net.py", "plain.py"])
@pytest.mark.parametrize("to", ["edited", "removed", "directory", "encoding"])
def test_what_is_edited_meanwhile_is_not_lost(
    run: Run, src: Path, words: tuple[str, ...], name: str, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (src / "plain.py").write_text(PLAIN)
    path, out = src / name, src.parent / "out"

    def edit() -> None:
        path.unlink()
        if to == "edited":
            path.write_text(f"{NET}# precious\n")
        elif to == "encoding":
            path.write_bytes(b"# coding: rot13\n\xff")
        elif to == "directory":
            path.mkdir()

    editing(monkeypatch, edit)
    code, _, err = run(src, *words, *([out] if words == ("-o",) else []))
    if name == "plain.py" and words != ("-o",):
        assert code == 0  # nothing of it is written
    else:
        assert code == 2 and f"{name}: was changed while it was ported" in err
        assert not out.exists() and not ported(src / ("plain.py" if name == "net.py" else "net.py"))
    if to == "edited":
        assert path.read_text() == f"{NET}# precious\n"


def test_an_edit_in_the_last_moment_is_not_lost(
    run: Run, src: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the files were compared already, and the first of them are staged."""
    (src / "other.py").write_text(NET)
    plain = in_place._keep

    def keep(path: Path, place: Path) -> None:
        plain(path, place)
        (src / "other.py").write_text(f"{NET}# precious\n")

    monkeypatch.setattr(in_place, "_keep", keep)
    code, _, err = run(src, "--in-place", "--force")
    assert code == 2 and "other.py: was changed while it was ported" in err
    assert (src / "net.py").read_text() == NET and "precious" in (src / "other.py").read_text()
    assert {path.name for path in src.iterdir()} == {"net.py", "other.py"}


@pytest.mark.parametrize("words", [("--in-place", "--force"), ("-o",)])
def test_two_names_for_one_file_are_two_files(
    run: Run, src: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Hard links, which some package managers and backups make."""
    (src / "pkg").mkdir()
    for name in ("twin.py", "pkg/third.py"):
        os.link(src / "net.py", src / name)
    os.link(src / "net.py", tmp_path / "outside.py")
    out = tmp_path / "out" if words == ("-o",) else src
    assert run(src, *words, *([out] if words == ("-o",) else []))[0] == 0
    assert all(ported(out / name) for name in ("net.py", "twin.py", "pkg/third.py"))
    assert (tmp_path / "outside.py").read_text() == NET


def test_in_place_keeps_what_hangs_on_a_file(run: Run, src: Path) -> None:
    try:
        os.setxattr(src / "net.py", "user.note", b"mine")
    except OSError:
        pytest.fail("the tests need a file system with attributes")
    assert run(src, "--in-place", "--force")[0] == 0
    assert ported(src / "net.py") and os.getxattr(src / "net.py", "user.note") == b"mine"


def test_an_output_is_on_the_disk_before_it_has_its_name(
    run: Run, src: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    for name in ("fsync", "replace"):
        plain = getattr(os, name)

        def noted(*words: object, name: str = name, plain: Callable[..., object] = plain) -> object:
            what = os.readlink(f"/proc/self/fd/{words[0]}") if name == "fsync" else str(words[1])
            done.append(f"{name} {Path(what).name}")
            return plain(*words)

        monkeypatch.setattr(os, name, noted)
    (src / "notes.txt").write_text("copied\n")
    for words in ((), ("--force",)):
        done.clear()
        assert run(src, "-o", tmp_path / "out", *words)[0] == 0
        first = next(number for number, line in enumerate(done) if line.startswith("replace"))
        assert {"fsync net.py", "fsync notes.txt", "fsync content"} <= set(done[:first])
        assert done[-1] == f"fsync {tmp_path.name}"


# Links in the output ----------------------------------------------------------------------------


def test_links_inside_the_tree_stay_links_to_the_ported_file(
    run: Run, src: Path, tmp_path: Path
) -> None:
    (src / "pkg").mkdir()
    (src / "pkg/block.py").write_text(NET)
    (src / "a_first.py").symlink_to("pkg/block.py")
    (src / "z_last.py").symlink_to(src / "pkg/block.py")  # an absolute link
    (src / "a_folder").symlink_to("pkg", target_is_directory=True)
    (src / "pkg/up.py").symlink_to("../net.py")
    out = tmp_path / "out"
    code, said, _ = run(src, "-o", out)
    assert code == 0 and "2 files" in said
    for name in ("a_first.py", "z_last.py", "a_folder/block.py", "pkg/up.py"):
        assert ported(out / name), name
    assert os.readlink(out / "a_first.py") == os.readlink(out / "z_last.py") == "pkg/block.py"
    assert os.readlink(out / "a_folder") == "pkg" and os.readlink(out / "pkg/up.py") == "../net.py"


def test_links_out_of_the_tree_are_findings(run: Run, src: Path, tmp_path: Path) -> None:
    (tmp_path / "shared.py").write_text(NET)
    (tmp_path / "weights.bin").write_bytes(b"secret")
    (src / "shared.py").symlink_to(tmp_path / "shared.py")
    (src / "weights.bin").symlink_to("../weights.bin")
    out = tmp_path / "out"
    code, said, _ = run(src, "-o", out)
    assert code == 1 and said.count("MS210") == 2
    assert {path.name for path in out.iterdir()} == {"net.py"}


def test_links_between_two_directories_that_were_asked_for(
    run: Run, src: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "net.py").symlink_to(src / "net.py")
    (other / "b.py").write_text(NET)
    assert run(src, other, "-o", tmp_path / "out")[0] == 0
    assert os.readlink(tmp_path / "out/other/net.py") == "../src/net.py"
    assert ported(tmp_path / "out/other/net.py")


# Interrupted runs -------------------------------------------------------------------------------


@pytest.fixture
def interrupted(src: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree in which one file of two is in place, and a journal."""
    (src / "other.py").write_text(NET)
    plain = in_place._place

    def fail(staged: Path, path: Path) -> None:
        plain(staged, path)
        raise KeyboardInterrupt

    monkeypatch.setattr(in_place, "_place", fail)
    assert run(src, "--in-place", "--force")[0] == 130
    monkeypatch.setattr(in_place, "_place", plain)
    assert ported(src / "net.py") and not ported(src / "other.py")
    return src


def test_resume(interrupted: Path, run: Run, tmp_path: Path) -> None:
    for words in (("--in-place", "--force"), ("--check",), ("-o", tmp_path / "out")):
        code, _, err = run(interrupted, *words)
        assert code == 2 and "--resume" in err and "--rollback" in err
    assert run(interrupted, "--in-place", "--resume")[0] == 0
    assert ported(interrupted / "net.py") and ported(interrupted / "other.py")
    assert {path.name for path in interrupted.iterdir()} == {"net.py", "other.py"}


def test_rollback(interrupted: Path, run: Run) -> None:
    assert run(interrupted / "net.py", "--in-place", "--rollback")[0] == 0
    assert {path.name: path.read_text() for path in interrupted.iterdir()} == {
        "net.py": NET,
        "other.py": NET,
    }
    assert run(interrupted, "--in-place", "--rollback")[0] == 2


def test_staging_that_a_kill_left_behind_is_removed(run: Run, src: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    left = tmp_path / f".out.ms-migrate-{'0123456789abcdef'}"
    (left / "content").mkdir(parents=True)
    (tmp_path / ".out.ms-migrate.lock").touch()
    mine = tmp_path / ".out.ms-migrate-notes"
    mine.mkdir()
    assert run(src, "-o", out)[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == {"src", "out", mine.name}


def test_a_second_writer_to_one_output_is_refused(run: Run, src: Path, tmp_path: Path) -> None:
    with sole_writer(tmp_path / "out"):
        code, _, err = run(src, "-o", tmp_path / "out")
    assert code == 2 and "another ms-migrate" in err and not (tmp_path / "out").exists()


# Outputs that cannot be -------------------------------------------------------------------------


def test_force_refuses_before_the_first_write(run: Run, src: Path, tmp_path: Path) -> None:
    (src / "a.py").write_text(NET)
    (src / "pkg").mkdir()
    (src / "pkg/z.py").write_text(NET)
    for obstacle in ("net.py/", "pkg"):
        out = tmp_path / f"out-{obstacle.strip('/')}"
        out.mkdir()
        if obstacle.endswith("/"):
            (out / obstacle).mkdir()
        else:
            (out / obstacle).write_text("mine")
        code, _, err = run(src, "-o", out, "--force")
        assert code == 2 and "nothing was written" in err
        assert [path.name for path in out.iterdir()] == [obstacle.strip("/")]


def test_force_does_not_write_through_a_linked_directory(
    run: Run, src: Path, tmp_path: Path
) -> None:
    (src / "pkg").mkdir()
    (src / "pkg/z.py").write_text(NET)
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.mkdir()
    out.mkdir()
    (out / "pkg").symlink_to(elsewhere, target_is_directory=True)
    assert run(src, "-o", out, "--force")[0] == 2
    assert list(elsewhere.iterdir()) == []


def test_an_output_above_the_sources(run: Run, src: Path, tmp_path: Path) -> None:
    code, _, err = run(src, "-o", tmp_path)
    assert code == 2 and "--force" in err
    assert run(src, "-o", tmp_path, "--force")[0] == 0
    assert ported(tmp_path / "net.py") and (src / "net.py").read_text() == NET
    (src / "src").mkdir()
    (src / "src/net.py").write_text(PLAIN)
    code, _, err = run(src, "-o", tmp_path, "--force")
    assert code == 2 and "among the sources" in err and (src / "net.py").read_text() == NET


def test_a_dangling_link_as_output(run: Run, src: Path, tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(tmp_path / "nowhere")
    code, _, err = run(src, "-o", tmp_path / "out")
    assert code == 2 and "is a link to a place that does not exist" in err


def test_a_backup_that_does_not_fit_is_removed(
    run: Run, src: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (src / "other.py").write_text(NET)
    copied: list[object] = []

    def full(path: Path, copy: Path, **options: object) -> None:
        if copied:
            raise OSError(errno.ENOSPC, "No space left on device", str(copy))
        copied.append(copy.write_bytes(path.read_bytes()))

    monkeypatch.setattr(shutil, "copy2", full)
    code, _, err = run(src, "--in-place", "--backup")
    assert code == 2 and "no space left" in err
    assert sorted(path.name for path in src.iterdir()) == ["net.py", "other.py"]
    assert (src / "net.py").read_text() == (src / "other.py").read_text() == NET


def test_a_full_disk_leaves_nothing(
    run: Run, src: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", full)
    code, _, err = run(src, "-o", tmp_path / "out")
    assert code == 2 and "no space left" in err and "Traceback" not in err
    assert {path.name for path in tmp_path.iterdir()} == {"src"}


def test_a_file_that_cannot_be_copied_is_named_as_unreadable(
    run: Run, src: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (src / "data.bin").write_bytes(b"1")

    def refuse(original: Path, place: Path, **more: bool) -> None:  # root may read anything
        raise PermissionError(errno.EACCES, "Permission denied", str(original))

    monkeypatch.setattr(shutil, "copy2", refuse)
    code, _, err = run(src, "-o", tmp_path / "out")
    assert code == 2 and "data.bin: cannot be read: permission denied; nothing was written" in err
    assert {path.name for path in tmp_path.iterdir()} == {"src"}


def test_a_source_that_cannot_be_read_costs_only_itself(
    run: Run, src: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (src / "secret.py").write_text(NET)

    def refuse(path: Path, *more: object, **options: object) -> IO[bytes]:
        if path.name == "secret.py":
            raise PermissionError(errno.EACCES, "Permission denied")
        return open(path, "rb", buffering=0)

    monkeypatch.setattr("migrate.project.text.open", refuse, raising=False)
    code, out, err = run(src, "--check")
    assert code == 1 and "secret.py: MS201 cannot be read: permission denied" in out, err


def test_undecodable_file_names(run: Run, src: Path, tmp_path: Path) -> None:
    name = os.fsdecode(b"n\xff\xfe.py")
    (src / name).write_text(NET)
    (src / os.fsdecode(b"data\xff.bin")).write_bytes(b"1")
    (src / os.fsdecode(b"bad\xff.py")).write_text("x = = 1\n")
    for words in (("-o", tmp_path / "out"), ("--diff",), ("--check", "--format", "json")):
        code, _, err = run(src, *words)
        assert code == 1, err
    assert ported(tmp_path / "out" / name)


def test_a_huge_expression_costs_only_its_file(run: Run, src: Path, tmp_path: Path) -> None:
    terms = " + ".join(["x"] * 20_000)
    (src / "huge.py").write_text(f"import torch\nx = torch.ones(1)\ny = {terms}\n")
    code, out, err = run(src, "-o", tmp_path / "out")
    assert code in (0, 1) and ported(tmp_path / "out/net.py"), err
    if code:
        assert "huge.py" in out and "MS208" in out
