"""The wheel, installed where there is no framework: it has its table, its demo and its commands."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
BUNDLED = ("mappings", "reference_pt", "ported_ms")
IGNORED = shutil.ignore_patterns("__pycache__", "*.pyc")


def run(*command: object, cwd: Path, expect: int | tuple[int, ...] = 0, **environment: str) -> str:
    """Run without the developer's paths; fail with the output when the exit code is unexpected."""
    cleaned = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**cleaned, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    expected = expect if isinstance(expect, tuple) else (expect,)
    assert done.returncode in expected, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that no left-over of an earlier build slips in."""
    source = tmp_path_factory.mktemp("source")
    for name in ("migrate", *BUNDLED):
        shutil.copytree(CHECKOUT / name, source / name, ignore=IGNORED)
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(CHECKOUT / name, source)
    out = tmp_path_factory.mktemp("dist")
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    run(*pip, "-w", out, ".", cwd=source)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Give `command(*words)`, which runs ms-migrate from a new environment in an empty folder."""
    home = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", home / "venv", cwd=home)
    pip = [home / "venv" / "bin" / "python", "-m", "pip", "install", "--quiet"]
    run(*pip, "--constraint", CHECKOUT / "constraints.txt", wheel, cwd=home)
    (home / "work").mkdir()

    def command(
        *words: object, expect: int | tuple[int, ...] = 0, program: str = "ms-migrate"
    ) -> str:
        executable = home / "venv" / "bin" / program
        cache = str(home / "cache")
        return run(executable, *words, cwd=home / "work", expect=expect, XDG_CACHE_HOME=cache)

    return command


def test_every_package_is_listed() -> None:
    """Explicit because the bundled folders live beside the package; so nothing may be forgotten."""
    settings = configparser.ConfigParser()
    settings.read(CHECKOUT / "setup.cfg")
    listed = set(settings["options"]["packages"].split())
    there = {
        ".".join(path.parent.relative_to(CHECKOUT).parts)
        for path in (CHECKOUT / "migrate").rglob("*.py")
    }
    there = there - {"migrate.api"} | {"ms_migrate"}  # installed under the name that users import
    there |= {f"migrate.{name}" for name in BUNDLED}
    for name in BUNDLED:
        folders = {path.parent for path in (CHECKOUT / name).rglob("*.py")}
        there |= {".".join(("migrate", *folder.relative_to(CHECKOUT).parts)) for folder in folders}
    assert sorted(there - listed) == [], "add these lines to packages in setup.cfg"
    assert sorted(listed - there) == [], "remove these lines from packages in setup.cfg"


def test_the_wheel_holds_every_module_table_and_program(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(CHECKOUT).as_posix().replace("migrate/api/", "ms_migrate/")
        for path in (CHECKOUT / "migrate").rglob("*.py")
    }
    for name in BUNDLED:
        for path in (CHECKOUT / name).rglob("*"):
            if path.suffix in {".toml", ".json", ".py", ".sh"}:
                wanted.add("migrate/" + path.relative_to(CHECKOUT).as_posix())
    assert wanted - names == set()
    assert {"migrate/py.typed", "ms_migrate/py.typed", "migrate/assistant/SKILL.md"} <= names
    assert "migrate/report/templates/base.html" in names
    assert any(name.startswith("migrate/mappings/") for name in names)
    assert any(name.endswith("/LICENSE") for name in names)
    strangers = {name.split("/")[0] for name in names} - {"migrate", "ms_migrate"}
    assert all(name.startswith("ms_migrate-") for name in strangers), strangers


def test_the_commands_start(installed: Callable[..., str]) -> None:
    from migrate import __version__

    assert installed("--version") == f"ms-migrate {__version__}\n"
    shown = installed("--help")
    for command in ("analyze", "port", "lookup", "doctor"):
        assert f"\n    {command} " in shown
    # The light installation really is light.
    for framework in ("torch", "mindspore", "numpy"):
        installed("-c", f"import {framework}", expect=1, program="python")


def test_the_public_interface_is_there(installed: Callable[..., str]) -> None:
    code = (
        "import ms_migrate, ms_migrate.testing;"
        "print(ms_migrate.port_source('import torch\\nx = torch.ones(2)\\n').ok)"
    )
    assert installed("-c", code, program="python").strip() == "True"


def test_lookup_has_its_table(installed: Callable[..., str]) -> None:
    shown = installed("lookup", "torch.nn.Conv2d")
    assert "mindspore.nn.Conv2d" in shown
    assert "has_bias" in shown


def test_analyze_runs_without_a_framework(installed: Callable[..., str], tmp_path: Path) -> None:
    source = tmp_path / "net.py"
    source.write_text("from torch import nn\n\nlayer = nn.Conv2d(3, 8, 3)\n")
    document = json.loads(installed("analyze", source, "--format", "json"))
    assert "torch.nn.Conv2d" in json.dumps(document)
    assert "mindspore.nn.Conv2d" in json.dumps(document)


def test_the_reference_program_came_along(installed: Callable[..., str]) -> None:
    code = "from migrate.resources import folder; print(folder('reference_pt') / 'resnet.py')"
    path = Path(installed("-c", code, program="python").strip())
    assert path.is_file()
    assert path.parent.parent.name == "migrate"
    assert CHECKOUT not in path.parents
    # Whether it finds something to act on is the analysis' own business, not the wheel's.
    document = json.loads(installed("analyze", path, "--format", "json", expect=(0, 1)))
    assert "torch.nn.AdaptiveAvgPool2d" in json.dumps(document)


def test_doctor_says_what_to_install(installed: Callable[..., str]) -> None:
    document = json.loads(installed("doctor", "--format", "json", expect=1))
    checks = {check["name"]: check for check in document["checks"]}
    assert checks["torch"]["found"] == "not installed"
    assert "pip install torch==" in checks["torch"]["fix"]


def test_a_missing_folder_is_one_clear_message(tmp_path: Path) -> None:
    """A broken installation: the package alone, its bundled folders gone."""
    shutil.copytree(CHECKOUT / "migrate", tmp_path / "migrate", ignore=IGNORED)
    code = (
        "from migrate.errors import RequestError\n"
        "from migrate.resources import folder\n"
        "try: folder('mappings')\n"
        "except RequestError as error: print(error)\n"
    )
    shown = run(sys.executable, "-c", code, cwd=tmp_path)
    assert "lacks its mappings folder" in shown
    assert "pip install --force-reinstall" in shown
