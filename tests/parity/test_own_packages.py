"""A folder of the program called like a package that a framework imports."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path

import pytest

from migrate.parity.request.own_packages import put_on_path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(builtins, "__import__", builtins.__import__)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    for place, text in (("program", "WHOSE = 'program'"), ("site", "WHOSE = 'installed'")):
        (tmp_path / place / "kernels").mkdir(parents=True)
        (tmp_path / place / "kernels" / "__init__.py").write_text(text)
    (tmp_path / "program" / "only_here.py").write_text("WHOSE = 'program'")
    sys.path.append(str(tmp_path / "site"))
    put_on_path(tmp_path / "program")
    return tmp_path


def asked_by(module: str, name: str) -> str:
    names: dict[str, object] = {"__name__": module}
    exec(f"import {name}\nfound = {name}.WHOSE", names)
    return str(names["found"])


def test_each_has_its_own(folder: Path) -> None:
    for _ in range(2):
        assert asked_by("net", "kernels") == "program"
        assert asked_by("torch._inductor.utils", "kernels") == "installed"
        assert asked_by("mindspore.common", "kernels") == "installed"


def test_what_is_not_installed_is_missing_for_frameworks(folder: Path) -> None:
    assert asked_by("net", "only_here") == "program"
    with pytest.raises(ModuleNotFoundError):
        asked_by("torch.utils", "only_here")
    assert asked_by("net", "only_here") == "program"
