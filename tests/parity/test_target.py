"""Targets: files in packages, lone files, arguments, and requests that cannot be right."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from migrate.errors import RequestError
from migrate.parity.request import target


@pytest.fixture(autouse=True)
def own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building a target puts its folder first, and processes that later tests start inherit it."""
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "zoo_for_targets"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "inner" / "__init__.py").write_text("")
    (folder / "parts.py").write_text("WIDTH = 3\n")
    (folder / "inner" / "net.py").write_text(
        "from ..parts import WIDTH\nclass Net:\n    def __init__(self, width=WIDTH, deep=False):\n"
        "        self.width, self.deep = width, deep\n"
    )
    return folder


def test_a_file_in_a_package_keeps_its_relative_imports(package: Path) -> None:
    built = target.build(target.parse(f"{package / 'inner' / 'net.py'}:Net"))
    assert built.width == 3


def test_arguments_may_use_names_of_the_module(package: Path) -> None:
    built = target.build(target.parse(f"{package / 'inner' / 'net.py'}:Net(WIDTH + 1, deep=True)"))
    assert (built.width, built.deep) == (4, True)


def test_a_lone_file_may_be_called_like_an_installed_module(tmp_path: Path) -> None:
    before = sys.modules["json"]
    (tmp_path / "json.py").write_text("def make(n=2):\n    return [n]\n")
    try:
        assert target.build(target.parse(f"{tmp_path / 'json.py'}:make(n=5)")) == [5]
    finally:
        sys.modules["json"] = before


def test_a_name_that_is_missing_is_answered_with_those_the_file_defines(tmp_path: Path) -> None:
    path = tmp_path / "offers_for_targets.py"
    path.write_text("from pathlib import Path\n\ndef small():\n    return Path()\n")
    with pytest.raises(RequestError) as said:
        target.load(target.parse(f"{path}:large"))
    assert said.value.next_step == "it offers: small"


def test_a_dotted_callable_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "holder_for_targets.py"
    path.write_text("class Zoo:\n    @staticmethod\n    def small():\n        return 'small'\n")
    assert target.build(target.parse(f"{path}:Zoo.small")) == "small"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model.py", "does not name a callable"),
        ("nowhere/model.py:Net", "no such file"),
        ("not a module:Net", "neither a .py file nor a module name"),
        ("package.module:Net(1,", "does not name a callable"),
        ("package.module:Net(1 2)", "cannot read the arguments"),
    ],
)
def test_what_cannot_be_a_target_is_refused(text: str, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        target.parse(text)


def test_an_unknown_callable_is_answered_with_those_that_exist(tmp_path: Path) -> None:
    path = tmp_path / "offers_for_targets.py"
    path.write_text("def resnet(): ...\n")
    with pytest.raises(RequestError) as refused:
        target.build(target.parse(f"{path}:resnt"))
    assert "resnet" in refused.value.next_step
