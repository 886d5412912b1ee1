"""Whose line is it? Errors and layers are said to be where the user can look."""

from __future__ import annotations

from types import ModuleType

import pytest

from migrate.parity.mindspore_side import errors as mindspore_errors
from migrate.parity.workers import structure, user_code


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A framework in a folder of its own, as far as anyone can tell."""
    fake = ModuleType("mindspore")
    fake.__file__ = "/env/site-packages/mindspore/__init__.py"
    monkeypatch.setitem(user_code.sys.modules, "mindspore", fake)
    user_code._framework_folders.cache_clear()
    yield
    user_code._framework_folders.cache_clear()


@pytest.mark.usefixtures("installed")
def test_a_user_s_folder_may_be_called_like_the_framework() -> None:
    assert not user_code.is_user_file("/env/site-packages/mindspore/nn/cell.py")
    assert user_code.is_user_file("/home/me/mindspore/models/resnet.py")
    assert not user_code.is_user_file(user_code.__file__)
    assert not user_code.is_user_file("<string>")


@pytest.mark.usefixtures("installed")
def test_the_user_s_line_is_preferred_to_a_library_s() -> None:
    mine, library = ("/home/me/net.py", 3), ("/env/site-packages/numpy/core/x.py", 9)
    assert user_code.innermost([mine, library]) == "/home/me/net.py:3"
    assert user_code.innermost([library]) == "/env/site-packages/numpy/core/x.py:9"
    assert user_code.innermost([]) == ""


@pytest.mark.usefixtures("installed")
def test_the_compiler_s_error_is_cut_to_its_message_and_the_user_s_line() -> None:
    error = RuntimeError(
        "For 'MatMul' the shapes differ.\n\n"
        "----------\n- The Traceback of Net Construct Code:\n----------\n"
        "# 0 In file /home/me/net.py:12~14, 8~44\n        return self.fc(x)\n"
        "# 1 In file /env/site-packages/mindspore/nn/layer/basic.py:400, 8\n"
    )
    said = mindspore_errors.describe(error)
    assert said["what"] == "RuntimeError: For 'MatMul' the shapes differ."
    assert said["where"] == "/home/me/net.py:12"


def test_a_layer_knows_the_line_and_column_that_made_it() -> None:
    class Base:
        pass

    class Part(Base):
        def __init__(self) -> None:
            super().__init__()

    with structure.watch_construction(Base) as place_of:
        pair = [None, Part()]
    where = place_of(pair[1])
    assert where is not None and where.file == __file__
    assert where.text[where.column - 8 :].startswith("Part()")
