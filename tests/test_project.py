"""Which files a request names, what Python calls them, and one line for each that is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from migrate.project import MAXIMUM_BYTES, ReadProblem, SourceFile, discover, parse


def write(path: Path, text: str | bytes = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def only(path: Path) -> SourceFile:
    (file,) = discover([path]).files
    return file


def problem(path: Path) -> str:
    with pytest.raises(ReadProblem) as caught:
        parse(only(path))
    return str(caught.value.finding)


def test_module_names_follow_the_first_directory_without_init(tmp_path: Path) -> None:
    write(tmp_path / "repo/train.py")
    write(tmp_path / "repo/pkg/__init__.py")
    write(tmp_path / "repo/pkg/models/__init__.py")
    write(tmp_path / "repo/pkg/models/resnet.py")
    files = {f.module: f for f in discover([tmp_path / "repo"]).files}
    assert set(files) == {"train", "pkg", "pkg.models", "pkg.models.resnet"}
    assert files["train"].package == ""
    assert files["pkg.models"].is_package and files["pkg.models"].package == "pkg.models"
    assert files["pkg.models.resnet"].package == "pkg.models"
    assert {f.root for f in files.values()} == {str(tmp_path / "repo")}


def test_a_single_file_of_a_package_keeps_its_full_name(tmp_path: Path) -> None:
    write(tmp_path / "pkg/__init__.py")
    assert only(write(tmp_path / "pkg/net.py")).module == "pkg.net"


def test_paths_are_as_the_user_reached_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "pkg/__init__.py")
    write(tmp_path / "pkg/net.py")
    monkeypatch.chdir(tmp_path / "pkg")
    file = only(Path("net.py"))
    assert (str(file.path), file.module) == ("net.py", "pkg.net")


def test_each_file_once_and_sorted(tmp_path: Path) -> None:
    b, a = write(tmp_path / "b.py"), write(tmp_path / "a.py")
    (tmp_path / "link.py").symlink_to(b)
    files = discover([b, tmp_path, a, tmp_path]).files
    assert [f.path.name for f in files] == ["a.py", "b.py"]


def test_find_reaches_modules_that_were_not_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "pkg/__init__.py")
    asked = write(tmp_path / "pkg/net.py")
    write(tmp_path / "pkg/blocks/__init__.py")
    write(tmp_path / "helpers.py")
    project = discover([asked])
    found = {name: project.find(name) for name in ("pkg.net", "pkg.blocks", "helpers", "numpy")}
    assert found["pkg.net"] is project.files[0]
    assert found["pkg.blocks"] is not None and found["pkg.blocks"].is_package
    assert found["helpers"] is not None and found["helpers"].path == tmp_path / "helpers.py"
    assert found["numpy"] is None


def test_find_prefers_the_module_beside_the_importing_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / name / "train.py")
        write(tmp_path / name / "utils.py")
    project = discover([tmp_path])
    for file in project.files:
        assert project.find("utils", file).path.parent == file.path.parent  # type: ignore[union-attr]


def test_find_gives_the_asked_for_file_of_a_namespace_package(tmp_path: Path) -> None:
    write(tmp_path / "train.py", "from models.net import Net")
    write(tmp_path / "models/net.py")
    project = discover([tmp_path])
    assert project.find("models.net") is next(f for f in project.files if f.module == "models.net")


def test_find_stays_inside_the_asked_package_when_it_is_installed(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    for package in ("mine", "other"):
        write(site / package / "__init__.py")
        write(site / package / "net.py")
    project = discover([site / "mine/net.py"])
    assert project.find("mine") is not None
    assert project.find("other.net") is None


def test_foreign_and_hidden_directories_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a.py")
    write(tmp_path / "venv/pyvenv.cfg")
    for folder in ("venv/lib", ".git", "__pycache__", "node_modules", ".ipynb_checkpoints"):
        write(tmp_path / folder / "b.py")
    assert [f.path.name for f in discover([tmp_path]).files] == ["a.py"]
    assert [f.path.name for f in discover([tmp_path / "venv/lib"]).files] == ["b.py"]


def skipped(*paths: Path) -> list[str]:
    return [str(finding) for finding in discover(paths).skipped]


def test_missing_path(tmp_path: Path) -> None:
    path = tmp_path / "nothing.py"
    assert skipped(path) == [f"{path}: does not exist; check the spelling [MS101]"]


def test_directory_without_python(tmp_path: Path) -> None:
    write(tmp_path / "readme.md")
    assert len(skipped(tmp_path)) == 1
    assert "holds no Python source" in skipped(tmp_path)[0]


def test_file_that_is_not_python(tmp_path: Path) -> None:
    assert "is not Python source" in skipped(write(tmp_path / "readme.md"))[0]
    assert only(write(tmp_path / "script", "#!/usr/bin/env python3\n")).module == "script"


def test_huge_file_is_named_and_the_rest_read(tmp_path: Path) -> None:
    write(tmp_path / "small.py")
    with (tmp_path / "huge.py").open("wb") as stream:
        stream.truncate(50_000_000)
    project = discover([tmp_path])
    assert [f.path.name for f in project.files] == ["small.py"]
    assert [f.code for f in project.skipped] == ["MS202"]
    assert "50 MB" in project.skipped[0].message
    assert MAXIMUM_BYTES < 50_000_000


def test_symlink_loops(tmp_path: Path) -> None:
    write(tmp_path / "tree/a.py")
    (tmp_path / "tree/up").symlink_to(tmp_path / "tree", target_is_directory=True)
    (tmp_path / "tree/self.py").symlink_to(tmp_path / "tree/self.py")
    (tmp_path / "tree/gone.py").symlink_to(tmp_path / "nowhere.py")
    project = discover([tmp_path / "tree"])
    assert [f.path.name for f in project.files] == ["a.py"]
    assert [(f.path.name, f.code) for f in project.skipped] == [
        ("gone.py", "MS201"),
        ("self.py", "MS203"),
        ("up", "MS203"),
    ]


def test_a_link_out_of_the_tree_is_a_finding_and_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "other/b.py")
    write(tmp_path / "tree/a.py")
    (tmp_path / "tree/folder").symlink_to(tmp_path / "other", target_is_directory=True)
    (tmp_path / "tree/file.py").symlink_to(tmp_path / "other/b.py")
    project = discover([tmp_path / "tree"])
    assert [f.path.name for f in project.files] == ["a.py"]
    assert [(f.path.name, f.code) for f in project.skipped] == [
        ("file.py", "MS210"),
        ("folder", "MS210"),
    ]
    both = discover([tmp_path / "tree", tmp_path / "other"])
    assert [str(f.path.relative_to(tmp_path)) for f in both.files] == ["other/b.py", "tree/a.py"]
    assert both.skipped == []


def test_a_link_inside_the_tree_adds_no_file(tmp_path: Path) -> None:
    write(tmp_path / "tree/real/b.py")
    (tmp_path / "tree/alias").symlink_to("real", target_is_directory=True)
    (tmp_path / "tree/a.py").symlink_to("real/b.py")
    project = discover([tmp_path / "tree"])
    assert [str(f.path.relative_to(tmp_path)) for f in project.files] == ["tree/real/b.py"]
    assert project.skipped == []


def test_a_linked_directory_that_the_walk_would_not_enter_is_followed_once(tmp_path: Path) -> None:
    write(tmp_path / "tree/.hidden/b.py")
    for name in ("first", "second"):
        (tmp_path / "tree" / name).symlink_to(".hidden", target_is_directory=True)
    project = discover([tmp_path / "tree"])
    assert [str(f.path.relative_to(tmp_path)) for f in project.files] == ["tree/first/b.py"]


def test_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert "is not an ordinary file" in skipped(tmp_path)[0]


def test_a_pipe_that_takes_a_files_place_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "net.py")
    file = only(path)
    ordinary = os.stat(path)
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr("migrate.project.text.os.stat", lambda _: ordinary)
    with pytest.raises(ReadProblem, match="is not an ordinary file"):
        file.read()


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "secret.py")

    def refuse(*arguments: object, **more: object) -> None:  # root may read anything
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("migrate.project.text.open", refuse, raising=False)
    assert problem(path).startswith(f"{path}: cannot be read: permission denied")


def test_encodings_follow_pep_263(tmp_path: Path) -> None:
    latin = "# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1")
    assert "é" in only(write(tmp_path / "latin.py", latin)).read()
    marked = only(write(tmp_path / "bom.py", b"\xef\xbb\xbfx = 1\r\ny = 2\r"))
    assert marked.read() == "x = 1\ny = 2\n"


def test_wrong_encoding_names_byte_and_line(tmp_path: Path) -> None:
    text = problem(write(tmp_path / "bad.py", b"x = 1\ny = 2\nz = 3\nname = '\xe9'\n"))
    assert "bad.py:4: byte 0xe9 is not utf-8" in text
    assert "coding: latin-1" in text
    assert "byte 0xe9 is not utf-8" in problem(write(tmp_path / "first.py", b"'\xe9'\n"))
    assert "unknown encoding" in problem(write(tmp_path / "odd.py", b"# coding: klingon\n"))
    assert "NUL" in problem(write(tmp_path / "wide.py", "x = 1\n".encode("utf-16")))


def test_syntax_error_has_line_and_column(tmp_path: Path) -> None:
    path = write(tmp_path / "broken.py", "x = 1\nif x\n    y = 2\n")
    assert problem(path).startswith(f"{path}:2:5: is not valid Python: expected ':'")


@pytest.mark.parametrize(
    "line",
    [
        "print 'hello'",
        "exec 'x = 1'",
        "raise ValueError, 'no'",
        "x = 0777",
        "if a <> b: pass",
        "y = `x`",
        "n = 10L",
    ],
)
def test_python_2_source_is_called_that(tmp_path: Path, line: str) -> None:
    text = problem(write(tmp_path / "old.py", f"import os\n{line}\n"))
    assert "old.py:2" in text and "is Python 2 source" in text and "2to3" in text


def test_python_2_except_clause(tmp_path: Path) -> None:
    old = "try:\n    pass\nexcept OSError, e:\n    pass\n"
    assert "is Python 2 source" in problem(write(tmp_path / "old.py", old))


def test_ordinary_mistakes_are_not_called_python_2(tmp_path: Path) -> None:
    for number, line in enumerate(["x = (1", "def f(:", "x = = 2", "class A", "print('x'"]):
        assert "Python 2" not in problem(write(tmp_path / f"{number}.py", line + "\n"))


def test_deep_nesting_is_a_finding(tmp_path: Path) -> None:
    text = problem(write(tmp_path / "deep.py", "x = " + "(" * 5000 + ")" * 5000 + "\n"))
    assert "deep.py" in text


def notebook(*cells: str, language: str = "python") -> str:
    return json.dumps(
        {
            "metadata": {"kernelspec": {"language": language}},
            "nbformat": 4,
            "cells": [{"cell_type": "markdown", "source": "# Title"}]
            + [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells],
        }
    )


def test_notebook_cells_are_joined_and_lines_map_back(tmp_path: Path) -> None:
    cells = ["import torch\nx = 1", "y = torch.zeros(2)\nz = y"]
    file = only(write(tmp_path / "a.ipynb", notebook(*cells)))
    assert file.notebook and file.imports_torch()
    text = file.read()
    line = text.split("\n").index("z = y") + 1
    assert file.place(line) == (3, 2)
    assert file.place(1) == (2, 1)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%matplotlib inline\nx = 1", "pass  # %matplotlib inline\nx = 1"),
        ("if True:\n    !pip install x", "if True:\n    pass  # !pip install x"),
        ("files = !ls\nx = 1", "files = None  # !ls\nx = 1"),
        ("torch.nn?", "pass  # torch.nn?"),
        ("%%time\nx = 1", "# %%time\nx = 1"),
        ("%%bash\nrm -rf x", "# %%bash\n# rm -rf x"),
        ("x = (7\n% 3)", "x = (7\n% 3)"),
        ("%cd x\ns = '''\n%d\n'''", "pass  # %cd x\ns = '''\n%d\n'''"),
    ],
)
def test_magics_become_harmless(tmp_path: Path, cell: str, expected: str) -> None:
    file = only(write(tmp_path / "a.ipynb", notebook(cell)))
    assert file.read() == expected + "\n"
    parse(file)


def test_notebook_problems(tmp_path: Path) -> None:
    broken = problem(write(tmp_path / "broken.ipynb", notebook("x = 1", "x = = 2")))
    assert "cell 3, line 1" in broken
    assert "is not a Jupyter notebook" in problem(write(tmp_path / "text.ipynb", "[1, 2"))
    assert "in r" in problem(write(tmp_path / "r.ipynb", notebook("x <- 1", language="R")))


def modules(*paths: Path) -> set[str]:
    return {file.module for file in discover(list(paths)).files}


def test_a_folder_without_init_is_a_package_to_those_who_import_through_it(tmp_path: Path) -> None:
    write(tmp_path / "repo/train.py", "from models.net import Net\n")
    write(tmp_path / "repo/models/net.py", "from models import parts\n")
    write(tmp_path / "repo/models/parts.py", "from .deep.conv import Conv\n")
    write(tmp_path / "repo/models/deep/__init__.py")
    write(tmp_path / "repo/models/deep/conv.py")
    write(tmp_path / "repo/models/convert.py", "import torch\n")  # run by itself
    deep = {"models.deep", "models.deep.conv"}
    assert modules(tmp_path / "repo") == {
        "train",
        "models.net",
        "models.parts",
        "convert",
        *deep,
    }
    assert "models.net" in modules(tmp_path / "repo/models")  # by its own import of models


def test_a_package_reaches_into_its_folders_without_init(tmp_path: Path) -> None:
    write(tmp_path / "pkg/__init__.py", "from .models.net import Net\n")
    write(tmp_path / "pkg/models/net.py", "from .utils.load import get\n")
    write(tmp_path / "pkg/models/utils/load.py")
    assert modules(tmp_path / "pkg") == {"pkg", "pkg.models.net", "pkg.models.utils.load"}


def test_relative_imports_make_a_package_unless_there_is_a_way_without(tmp_path: Path) -> None:
    write(tmp_path / "one/net.py", "from .blocks import Block\n")
    write(tmp_path / "one/blocks.py")
    write(
        tmp_path / "two/net.py", "try:\n    from .blocks import B\nexcept E:\n    import blocks\n"
    )
    write(tmp_path / "two/blocks.py")
    assert modules(tmp_path / "one") == {"one.net", "one.blocks"}
    assert modules(tmp_path / "two") == {"net", "blocks"}


def test_a_package_goes_before_a_module_of_its_name(tmp_path: Path) -> None:
    """As Python's own finder has it; both ways of following imports agree."""
    write(tmp_path / "net.py")
    write(tmp_path / "net" / "__init__.py")
    write(tmp_path / "train.py", "import net\n")
    project = discover([tmp_path])
    train = next(file for file in project.files if file.path.name == "train.py")
    found = project.find("net", train)
    assert found is not None and found.path == tmp_path / "net" / "__init__.py"
    assert project.scans.module_file(str(tmp_path), "net") == str(tmp_path / "net" / "__init__.py")
