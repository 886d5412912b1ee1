"""What git could give back, told without starting git on a repository that may be hostile."""

from __future__ import annotations

import os
import subprocess
import tracemalloc
import zlib
from pathlib import Path

import pytest

from migrate.files.git_index import UnreadableIndex, find_repository, parse_index


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def restores(path: Path) -> bool:
    repository = find_repository(path)
    return repository is not None and repository.restores(path, path.read_bytes())


@pytest.fixture(params=["2", "3", "4"])
def tree(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A repository with files in it, added, in each version of the index."""
    git(tmp_path, "init", "-q")
    for name in ("a.py", "pkg/b.py", "pkg/longer_name.py", "ignored.py", "new.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"name = {name!r}\n")
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    git(tmp_path, "add", "a.py", "pkg", ".gitignore")
    git(tmp_path, "update-index", "--index-version", request.param)
    if request.param == "3":
        git(tmp_path, "add", "--intent-to-add", "new.py")
    return tmp_path


def test_added_files_can_be_restored_and_others_not(tree: Path) -> None:
    assert all(restores(tree / name) for name in ("a.py", "pkg/b.py", "pkg/longer_name.py"))
    assert not restores(tree / "ignored.py") and not restores(tree / "new.py")
    (tree / "a.py").write_text("edited\n")
    assert not restores(tree / "a.py")


def test_objects_in_packs_count_and_missing_ones_do_not(tree: Path) -> None:
    git(tree, "commit", "-qm", "all")
    git(tree, "gc", "-q")
    assert restores(tree / "a.py")
    for pack in (tree / ".git/objects/pack").glob("*.pack"):
        pack.unlink()
    assert not restores(tree / "a.py")


def test_line_ends_that_git_converts(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "core.autocrlf", "true")
    path = tmp_path / "a.py"
    path.write_bytes(b"x = 1\r\ny = 2\r\n")
    git(tmp_path, "add", "a.py")
    assert restores(path)


def test_linked_working_trees_and_sha256(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q", "--object-format=sha256")
    (main / "a.py").write_text("x = 1\n")
    git(main, "add", ".")
    git(main, "commit", "-qm", "a")
    git(main, "worktree", "add", "-q", str(tmp_path / "other"))
    assert restores(main / "a.py") and restores(tmp_path / "other/a.py")


def test_no_repository_and_unreadable_ones(tmp_path: Path) -> None:
    assert find_repository(tmp_path) is None
    git(tmp_path, "init", "-q")
    for content in (b"", b"DIRC\0\0\0\x09\0\0\0\0", b"DIRC\0\0\0\x02\0\0\0\x05short"):
        (tmp_path / ".git/index").write_bytes(content)
        with pytest.raises(UnreadableIndex):
            find_repository(tmp_path)
    split = b"DIRC\0\0\0\x02\0\0\0\0link\0\0\0\x00" + bytes(20)
    with pytest.raises(UnreadableIndex, match="split"):
        parse_index(split, 20)


def test_line_ends_that_git_would_not_give_back(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    path = tmp_path / "a.py"
    path.write_bytes(b"x = 1\ny = 2\n")
    git(tmp_path, "add", ".")
    for content in (b"x = 1\r\ny = 2\r\n", b"x = 1\r\ny = 2\n"):
        path.write_bytes(content)
        assert not restores(path)
    (tmp_path / ".gitattributes").write_text("*.py text eol=crlf\n")
    assert not restores(path)  # both kinds: a checkout gives one
    path.write_bytes(b"x = 1\r\ny = 2\r\n")
    assert restores(path)


@pytest.mark.parametrize("name", ["config", "index", "commondir", "objects/pack/a.idx"])
def test_pipes_and_devices_in_a_repository_are_not_waited_for(tmp_path: Path, name: str) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "a")
    git(tmp_path, "gc", "-q")
    for plant in (os.mkfifo, lambda place: os.symlink("/dev/zero", place)):
        place = tmp_path / ".git" / name
        place.with_suffix(".pack").write_bytes(b"")
        place.unlink(missing_ok=True)
        plant(place)
        if name == "config":
            with pytest.raises(UnreadableIndex, match="ordinary"):
                find_repository(tmp_path)
        elif name == "index":
            assert not restores(tmp_path / "a.py")
        else:
            assert restores(tmp_path / "a.py")


def test_objects_that_a_power_cut_left_empty_give_nothing_back(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    git(tmp_path, "add", ".")
    (loose,) = (path for path in (tmp_path / ".git/objects").glob("??/*"))
    whole = loose.read_bytes()
    loose.chmod(0o644)
    for content in (b"", whole[:-3], b"x\x9c" + whole):
        loose.write_bytes(content)
        assert not restores(tmp_path / "a.py")
    loose.write_bytes(whole)
    assert restores(tmp_path / "a.py")


def test_an_object_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    git(tmp_path, "add", ".")
    (loose,) = (path for path in (tmp_path / ".git/objects").glob("??/*"))
    packer = zlib.compressobj(9)
    zeros = b"".join(packer.compress(bytes(1 << 24)) for _ in range(10)) + packer.flush()
    loose.chmod(0o644)
    loose.write_bytes(zeros)
    tracemalloc.start()
    assert not restores(tmp_path / "a.py")
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_the_index_of_another_working_tree_restores_nothing_here(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "a.py").write_bytes(b"x = 1\n")
    git(here, "init", "-q")
    git(here, "add", ".")
    git(here, "config", "core.worktree", "../../there")
    with pytest.raises(UnreadableIndex, match="another working tree"):
        find_repository(here)
    git(here, "config", "core.worktree", str(here))
    assert restores(here / "a.py")


def test_odd_git_files(tmp_path: Path) -> None:
    for content in (
        b"gitdir: \0",
        b"gitdir: /dev/zero",
        b"gitdir: .git",
        b"gitdir: " + b"a" * 9000,
    ):
        (tmp_path / ".git").write_bytes(content)
        with pytest.raises(UnreadableIndex):
            find_repository(tmp_path)
    (tmp_path / ".git").write_bytes(b"no such thing")
    assert find_repository(tmp_path) is None


@pytest.mark.parametrize("format", ["sha1", "sha256"])
def test_objects_are_read_out_of_packs(tmp_path: Path, format: str) -> None:
    """Also those that are stored as differences to others."""
    git(tmp_path, "init", "-q", f"--object-format={format}")
    path = tmp_path / "a.py"
    lines = [f"value_{n} = {n * 7919}  # of {n}\n" for n in range(3000)]
    for number in range(12):
        lines[number * 200 : number * 200 + number] = [f"new = {number}\n"] * 3
        path.write_text("".join(lines))
        (tmp_path / f"b{number}.py").write_text("".join(lines[: 2500 + number]))
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", "more")
    git(tmp_path, "gc", "-q", "--aggressive")
    assert not list((tmp_path / ".git/objects").glob("??/*"))
    assert all(restores(one) for one in tmp_path.glob("*.py"))
    (pack,) = (tmp_path / ".git/objects/pack").glob("*.pack")
    whole = pack.read_bytes()
    pack.chmod(0o644)
    for broken in (whole[:40], bytes(len(whole)), whole[: len(whole) // 3], b""):
        pack.write_bytes(broken)
        assert not all(restores(one) for one in tmp_path.glob("*.py"))
    for place in range(12, len(whole), max(1, len(whole) // 150)):
        flipped = bytes([whole[place] ^ 0xFF])
        pack.write_bytes(whole[:place] + flipped + whole[place + 1 :])
        for one in tmp_path.glob("*.py"):
            restores(one)  # whatever stands there


def test_settings_that_lead_the_checkout_elsewhere(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "a.py").write_bytes(b"x = 1\n")
    git(here, "init", "-q")
    git(here, "add", ".")
    named = f"[core] worktree = {tmp_path}\n"
    (tmp_path / "more").write_text(named)
    plain = (here / ".git/config").read_text()
    include = f"[include]\n\tpath = {tmp_path / 'more'}\n"
    for name, text in (
        ("config", plain + named),
        ("config", f'{plain}[core]\n\tworktree = "{tmp_path}" ; there\n'),
        ("config", plain + include),
        ("config", plain + include.replace("[include]", '[includeIf "gitdir:/"]')),
        ("config.worktree", named),
    ):
        (here / ".git" / name).write_text(text)
        with pytest.raises(UnreadableIndex, match="another working tree"):
            find_repository(here)
        (here / ".git/config").write_text(plain)
    (here / ".git/config.worktree").unlink()
    assert restores(here / "a.py")


@pytest.mark.parametrize("packed", [False, True])
def test_an_object_that_stands_for_another_one(tmp_path: Path, packed: bool) -> None:
    git(tmp_path, "init", "-q")
    for name, text in (("a.py", "x = 1\n"), ("b.py", "x = 2\n")):
        (tmp_path / name).write_text(text)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "all")
    git(tmp_path, "replace", "-f", "HEAD:a.py", "HEAD:b.py")
    if packed:
        git(tmp_path, "pack-refs", "--all")
    with pytest.raises(UnreadableIndex, match="replaces"):
        find_repository(tmp_path)


def test_identifiers_that_git_would_fill_in(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("# $Id$\n")
    git(tmp_path, "add", ".")
    assert restores(tmp_path / "a.py")
    (tmp_path / ".gitattributes").write_text("*.py text ident\n")
    assert not restores(tmp_path / "a.py")
