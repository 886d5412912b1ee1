"""`ms-migrate port` as people type it: what it writes, what it refuses, and how it says so."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate.cli import main

NET = """\
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)  # one layer

    def forward(self, x):
        return self.fc(x)
"""
PORTED = """\
from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(2, 3)  # one layer

    def construct(self, x):
        return self.fc(x)
"""
LEFT = "import torch\n\nhandle = torch.fx.symbolic_trace(None)\n"

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
def net(tmp_path: Path) -> Path:
    path = tmp_path / "src" / "net.py"
    path.parent.mkdir()
    path.write_text(NET, encoding="utf-8")
    return path


def tree_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# Where things go --------------------------------------------------------------------------------


def test_file_to_directory(run: Run, net: Path, tmp_path: Path) -> None:
    code, out, err = run(net, "-o", tmp_path / "out")
    assert code == 0
    assert tree_of(tmp_path / "out") == {"net.py": PORTED.encode()}
    assert "1 file" in out and "100%" in out and "no open items" in out
    assert err == ""


def test_directory_contents_go_directly_under_the_output(
    run: Run, net: Path, tmp_path: Path
) -> None:
    (net.parent / "data").mkdir()
    (net.parent / "data" / "classes.txt").write_bytes(b"cat\r\ndog\r\n")
    (net.parent / "plain.py").write_text("print('no torch')\n", encoding="utf-8")
    code, _, _ = run(net.parent, "-o", tmp_path / "out")
    assert code == 0
    assert tree_of(tmp_path / "out") == {
        "data/classes.txt": b"cat\r\ndog\r\n",
        "net.py": PORTED.encode(),
        "plain.py": b"print('no torch')\n",
    }


def test_several_directories_each_get_a_folder(run: Run, net: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "net.py").write_text(NET, encoding="utf-8")
    script = tmp_path / "script.py"
    script.write_text(NET, encoding="utf-8")
    code, _, _ = run(net.parent, other, script, "-o", tmp_path / "out")
    assert code == 0
    assert set(tree_of(tmp_path / "out")) == {"src/net.py", "other/net.py", "script.py"}


def test_permissions_are_kept(run: Run, net: Path, tmp_path: Path) -> None:
    net.chmod(0o755)
    run(net, "-o", tmp_path / "out")
    assert (tmp_path / "out" / "net.py").stat().st_mode & 0o777 == 0o755


def test_output_that_exists_is_refused_and_untouched(run: Run, net: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("keep me", encoding="utf-8")
    code, _, err = run(net, "-o", out)
    assert code == 2
    assert "--force" in err and "Traceback" not in err
    assert tree_of(out) == {"mine.txt": b"keep me"}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".out")]


def test_force_writes_into_an_output_that_exists(run: Run, net: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "net.py").write_text("old", encoding="utf-8")
    assert run(net, "-o", out, "--force")[0] == 0
    assert (out / "net.py").read_text(encoding="utf-8") == PORTED


def test_output_that_is_a_file_is_refused(run: Run, net: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file", encoding="utf-8")
    code, _, err = run(net, "-o", tmp_path / "out", "--force")
    assert code == 2
    assert "is a file" in err
    assert (tmp_path / "out").read_text(encoding="utf-8") == "a file"


def test_missing_path(run: Run, tmp_path: Path) -> None:
    code, _, err = run(tmp_path / "nowhere.py", "-o", tmp_path / "out")
    assert code == 2
    assert "nowhere.py" in err and len(err.strip().splitlines()) <= 2
    assert not (tmp_path / "out").exists()


# Without writing ---------------------------------------------------------------------------------


def test_diff_writes_nothing(run: Run, net: Path, tmp_path: Path) -> None:
    before = tree_of(tmp_path)
    code, out, err = run(net, "--diff")
    assert code == 0
    assert "-import torch.nn as nn\n+from mindspore import nn\n" in out
    assert out.endswith("\n") and "ported" in err
    assert tree_of(tmp_path) == before


def test_diff_is_a_patch(run: Run, net: Path, tmp_path: Path) -> None:
    """What --diff shows is what -o writes: git applies it."""
    patch = run(net, "--diff")[1]
    done = subprocess.run(
        ["git", "apply", "-p1", "-"], input=patch, cwd=net.parent, text=True, check=False
    )
    assert done.returncode == 0
    assert net.read_text(encoding="utf-8") == PORTED


def test_check_says_by_its_exit_code_whether_everything_ports(
    run: Run, net: Path, tmp_path: Path
) -> None:
    before = tree_of(tmp_path)
    assert run(net, "--check")[0] == 0
    left = net.parent / "left.py"
    left.write_text(LEFT, encoding="utf-8")
    code, out, _ = run(net.parent, "--check")
    assert code == 1
    assert "left.py:3" in out
    left.unlink()
    assert tree_of(tmp_path) == before


def test_json_summary(run: Run, net: Path, tmp_path: Path) -> None:
    (net.parent / "left.py").write_text(LEFT, encoding="utf-8")
    code, out, _ = run(net.parent, "-o", tmp_path / "out", "--format", "json", "--quiet")
    document = json.loads(out)
    assert code == 1
    assert (document["schema"], document["version"]) == ("ms-migrate/port", 2)
    assert document["summary"]["files"] == 2
    assert document["summary"]["usages"] == 3
    assert document["summary"]["ported"] == 2
    by_name = {Path(file["target"]).name: file for file in document["files"]}
    assert by_name["net.py"]["changed"] is True
    (finding,) = document["findings"]
    assert (Path(finding["path"]).name, finding["line"], finding["code"]) == (
        "left.py",
        3,
        "MS301",
    )
    assert finding["next_step"]


def test_quiet_says_nothing(run: Run, net: Path, tmp_path: Path) -> None:
    assert run(net, "-o", tmp_path / "out", "--quiet") == (0, "", "")


# In place ---------------------------------------------------------------------------------------


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_in_place_needs_git(run: Run, net: Path) -> None:
    code, _, err = run(net, "--in-place")
    assert code == 2
    assert "git" in err and "--force" in err
    assert net.read_text(encoding="utf-8") == NET


def test_in_place_on_a_clean_tree(run: Run, net: Path) -> None:
    git(net.parent, "init", "-q")
    git(net.parent, "add", ".")
    git(net.parent, "commit", "-qm", "net")
    assert run(net, "--in-place")[0] == 0
    assert net.read_text(encoding="utf-8") == PORTED
    assert {path.name for path in net.parent.iterdir()} == {".git", "net.py"}


def test_in_place_is_refused_on_an_unclean_tree(run: Run, net: Path) -> None:
    git(net.parent, "init", "-q")
    git(net.parent, "add", ".")
    git(net.parent, "commit", "-qm", "net")
    net.write_text(NET + "\n# not committed\n", encoding="utf-8")
    code, _, err = run(net, "--in-place")
    assert code == 2
    assert "uncommitted" in err
    assert net.read_text(encoding="utf-8") == NET + "\n# not committed\n"
    assert run(net, "--in-place", "--force")[0] == 0
    assert net.read_text(encoding="utf-8") == PORTED + "\n# not committed\n"


# Bytes ------------------------------------------------------------------------------------------


def test_line_ends_are_kept(run: Run, net: Path, tmp_path: Path) -> None:
    net.write_bytes(NET.replace("\n", "\r\n").encode())
    run(net, "-o", tmp_path / "out")
    assert (tmp_path / "out" / "net.py").read_bytes() == PORTED.replace("\n", "\r\n").encode()


def test_encoding_is_kept(run: Run, net: Path, tmp_path: Path) -> None:
    head = "# -*- coding: latin-1 -*-\n# größer\n"
    net.write_bytes((head + NET).encode("latin-1"))
    run(net, "-o", tmp_path / "out")
    assert (tmp_path / "out" / "net.py").read_bytes() == (head + PORTED).encode("latin-1")


def test_byte_order_mark_is_kept(run: Run, net: Path, tmp_path: Path) -> None:
    net.write_bytes(NET.encode("utf-8-sig"))
    run(net, "-o", tmp_path / "out")
    assert (tmp_path / "out" / "net.py").read_bytes() == PORTED.encode("utf-8-sig")


def test_no_newline_at_the_end_is_kept(run: Run, net: Path, tmp_path: Path) -> None:
    net.write_text(NET.rstrip("\n"), encoding="utf-8")
    run(net, "-o", tmp_path / "out")
    assert (tmp_path / "out" / "net.py").read_bytes() == PORTED.rstrip("\n").encode()


# Bad input --------------------------------------------------------------------------------------


def test_a_syntax_error_costs_only_its_file(run: Run, net: Path, tmp_path: Path) -> None:
    broken = net.parent / "broken.py"
    broken.write_text("def f(:\n    pass\n", encoding="utf-8")
    code, out, err = run(net.parent, "-o", tmp_path / "out")
    assert code == 1
    assert "broken.py:1" in out + err and "Traceback" not in out + err
    files = tree_of(tmp_path / "out")
    assert files["net.py"] == PORTED.encode()
    assert files["broken.py"] == broken.read_bytes()


def test_only_broken_files(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("def f(:\n", encoding="utf-8")
    code, _, err = run(broken, "-o", tmp_path / "out")
    assert code == 2
    assert "broken.py:1" in err
    assert not (tmp_path / "out").exists()


def test_what_is_left_keeps_torch_and_a_marker(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "left.py"
    source.write_text(LEFT, encoding="utf-8")
    code, out, _ = run(source, "-o", tmp_path / "out")
    text = (tmp_path / "out" / "left.py").read_text(encoding="utf-8")
    assert code == 1
    assert "1 open item" in out
    marker, statement = text.splitlines()[-2:]
    assert marker.startswith("# ms-migrate: MS301 torch.fx.symbolic_trace")
    assert statement == "handle = torch.fx.symbolic_trace(None)"
    assert "import torch\n" in text


def test_two_files_of_one_name_do_not_overwrite_each_other(
    run: Run, net: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "net.py"
    other.parent.mkdir()
    other.write_text(NET, encoding="utf-8")
    code, _, err = run(net, other, "-o", tmp_path / "out")
    assert code == 2
    assert "net.py" in err
    assert not (tmp_path / "out").exists()


def test_output_inside_the_source_is_not_ported_again(run: Run, net: Path, tmp_path: Path) -> None:
    out = net.parent / "out"
    assert run(net.parent, "-o", out)[0] == 0
    assert set(tree_of(out)) == {"net.py"}
    assert run(net.parent, "-o", out, "--force")[0] == 0
    assert set(tree_of(out)) == {"net.py"}


def test_output_that_is_the_source_is_refused(run: Run, net: Path) -> None:
    code, _, err = run(net.parent, "-o", net.parent, "--force")
    assert code == 2
    assert "--in-place" in err
    assert net.read_text(encoding="utf-8") == NET


def test_what_needs_no_work_counts_as_ported(port) -> None:
    """Nothing left to do is 100%: values of unknown type, `.data` in front of a change."""
    ported = port(
        """
        import torch
        from torch import nn

        def score(out, target):
            return (out.argmax(1) == target).float().mean()

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(2, 2)
                self.fc.weight.data.zero_()
                self.fc.bias.data[0] = 1.0
                self.fc.bias.data = torch.ones(2)
        """
    )
    assert not ported.findings
    assert ported.ported == ported.usages
