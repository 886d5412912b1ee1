"""doctor: every way an environment can be wrong is named, with what to type, and exit code 1."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.doctor.diagnose import OK, PROBLEM, SKIPPED, WARNING, diagnose
from migrate.doctor.probe import Probe, brief, run_all, run_probe

VERSIONS = {
    "numpy": "1.26.4",
    "torch": "2.13.0+cpu",
    "torchvision": "0.28.0",
    "mindspore": "2.10.0",
    "safetensors": "0.8.0",
}
NUMBERS = {"loss": 0.5, "gradients": [0.25, -1.0]}


def healthy(**changes: Probe) -> dict[str, Probe]:
    """What the probes tell of an environment in which nothing is wrong, but for the changes."""
    probes = {
        "interpreter": interpreter(),
        "numpy": Probe({"import": {"version": "1.26.4"}}),
        "torch": Probe({"import": {"version": "2.13.0+cpu"}, "kernels": NUMBERS}),
        "mindspore": Probe(
            {"import": {"version": "2.10.0"}, "device": {"device": "CPU"}, "kernels": NUMBERS}
        ),
        "torchvision": Probe({"import": {"version": "0.28.0", "operators": True}}),
    }
    return {**probes, **changes}


def interpreter(version=(3, 11, 7), **changes):
    packages = {name: found for name, found in {**VERSIONS, **changes}.items() if found}
    return Probe({"python": {"version": list(version), "packages": packages}})


def judge(device="CPU", **changes):
    return {check.name: check for check in diagnose(healthy(**changes), device, "py")}


def statuses(checks):
    return {name: check.status for name, check in checks.items() if check.status != OK}


def test_a_healthy_environment_passes_every_check():
    checks = judge()
    assert list(checks) == [
        *("Python", "numpy", "torch", "mindspore", "device CPU", "kernels"),
        *("safetensors", "torchvision"),
    ]
    assert statuses(checks) == {}


@pytest.mark.parametrize(
    ("changes", "name", "status", "detail", "fix"),
    [
        ({"interpreter": interpreter((3, 10, 1))}, "Python", PROBLEM, "needs 3.11", "PYTHON="),
        ({"interpreter": interpreter((3, 13, 0))}, "Python", WARNING, "tested with 3.11", ""),
        (
            {"numpy": Probe({"import": {"version": "2.1.0"}})},
            *("numpy", PROBLEM, "SystemError", "py -m pip install 'numpy>=1.26.4,<2'"),
        ),
        (
            {"torch": Probe({}, "crashed with SIGSEGV")},
            *("torch", PROBLEM, "import fails: crashed with SIGSEGV", "--force-reinstall"),
        ),
        (
            {"mindspore": Probe({}, "no answer within 5 s", late=True)},
            *("mindspore", PROBLEM, "no answer within 5 s", "--timeout 600"),
        ),
        (
            {"torch": Probe({"import": {"version": "2.9.1"}, "kernels": NUMBERS})},
            *("torch", WARNING, "checked with 2.13.0", "py -m pip install torch==2.13.0"),
        ),
        (
            {"torchvision": Probe({"import": {"version": "0.28.0", "operators": False}})},
            *("torchvision", WARNING, "C++ operators", "--no-deps"),
        ),
        (
            {"torchvision": Probe({}, "ImportError: no libjpeg")},
            *("torchvision", WARNING, "import fails: ImportError: no libjpeg", "torchvision==0.28"),
        ),
        (
            {"interpreter": interpreter(safetensors="")},
            *("safetensors", PROBLEM, "captures", "py -m pip install safetensors"),
        ),
        (
            {"interpreter": interpreter(torchvision="")},
            *("torchvision", WARNING, "only programs that use it", "torchvision==0.28.0"),
        ),
    ],
)
def test_each_fault_is_named_with_its_fix(changes, name, status, detail, fix):
    checks = judge(**changes)
    assert checks[name].status == status
    assert detail in checks[name].detail
    assert fix in checks[name].fix
    # Nothing else is blamed, though what stands on it may have been skipped.
    assert set(statuses(checks).values()) - {SKIPPED} == {status}
    assert [n for n, s in statuses(checks).items() if s == status] == [name]


def test_a_missing_framework_skips_what_stands_on_it():
    probes = healthy(interpreter=interpreter(mindspore=""))
    del probes["mindspore"]
    checks = {check.name: check for check in diagnose(probes, "CPU", "py")}
    assert statuses(checks) == {"mindspore": PROBLEM, "device CPU": SKIPPED, "kernels": SKIPPED}
    assert checks["mindspore"].fix == "py -m pip install mindspore==2.10.0"


def test_a_missing_device_points_to_its_build():
    fault = Probe({"import": {"version": "2.10.0"}}, "RuntimeError: Unsupported device target")
    checks = judge("Ascend", mindspore=fault)
    assert statuses(checks) == {"device Ascend": PROBLEM, "kernels": SKIPPED}
    assert "mindspore.cn/install" in checks["device Ascend"].fix


def kernels(**numbers):
    stages = {"import": {"version": "2.10.0"}, "device": {"device": "CPU"}}
    return Probe({**stages, "kernels": {**NUMBERS, **numbers}})


@pytest.mark.parametrize(
    "numbers",
    [{"loss": 0.501}, {"gradients": [0.25, -1.001]}, {"gradients": [0.25]}, {"loss": float("nan")}],
)
def test_kernels_that_run_but_disagree_are_a_problem(numbers):
    checks = judge(mindspore=kernels(**numbers))
    assert statuses(checks) == {"kernels": PROBLEM}
    assert "rounding" in checks["kernels"].detail


def test_rounding_is_no_disagreement_and_accelerators_round_more():
    assert statuses(judge(mindspore=kernels(loss=0.5000001))) == {}
    assert statuses(judge("Ascend", mindspore=kernels(loss=0.502))) == {}


def test_kernels_that_fail_beside_numpy_2_are_fixed_by_numpy():
    fault = Probe(
        {"import": {"version": "2.10.0"}, "device": {"device": "CPU"}},
        "SystemError: reshape returned a result with an exception set",
    )
    checks = judge(mindspore=fault, numpy=Probe({"import": {"version": "2.3.0"}}))
    assert statuses(checks) == {"numpy": PROBLEM, "kernels": PROBLEM}
    assert checks["kernels"].fix == checks["numpy"].fix


def test_a_frameworks_error_is_cut_to_what_a_person_needs():
    told = (
        "Unsupported device target Ascend. This process only supports one of the ['CPU']. Please "
        "check whether the environment is installed.\n\n-----\n- Device load error message:\n"
        "Load dynamic library: libmindspore_ascend.so failed.\n- C++ Call Stack:\nms_context.cc:1\n"
    )
    assert brief(told) == (
        "Unsupported device target Ascend. This process only supports one of the ['CPU']. "
        "Load dynamic library: libmindspore_ascend.so failed."
    )
    assert brief("") == ""


# Below, real processes: a folder of broken packages in front of the installed ones.


def package(folder: Path, name: str, version: str, source: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(source)
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


@pytest.fixture
def broken(tmp_path, monkeypatch):
    folder = tmp_path / "broken"
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


def test_crash_exception_hang_and_false_version_each_get_their_word(broken):
    package(broken, "numpy", "2.3.1", "__version__ = '2.3.1'")
    package(broken, "torch", "2.13.0", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    package(broken, "mindspore", "2.10.0", "import time; time.sleep(60)")
    package(broken, "torchvision", "0.28.0", "raise ImportError('libjpeg.so.8: cannot open')")
    started = time.monotonic()
    probes = run_all(sys.executable, "CPU", timeout=8)
    assert time.monotonic() - started < 40
    assert probes["numpy"].fact("import", "version") == "2.3.1"
    assert probes["torch"].failure == "crashed with SIGSEGV"
    assert probes["mindspore"].failure == "no answer within 8 s"
    assert probes["mindspore"].late
    checks = {check.name: check for check in diagnose(probes, "CPU", "py")}
    assert {name: check.status for name, check in checks.items()} == {
        "Python": OK,
        "numpy": PROBLEM,
        "torch": PROBLEM,
        "mindspore": PROBLEM,
        "device CPU": SKIPPED,
        "kernels": SKIPPED,
        "safetensors": OK,
        "torchvision": WARNING,
    }


def test_a_crash_after_the_import_is_told_apart_from_a_failing_import(broken):
    package(
        broken,
        "mindspore",
        "2.10.0",
        "import os, signal\n__version__ = '2.10.0'\n"
        "def set_device(name): os.kill(os.getpid(), signal.SIGFPE)\n",
    )
    probe = run_probe(sys.executable, "mindspore", "CPU", timeout=30)
    assert "import" in probe
    assert "device" not in probe
    assert probe.failure == "crashed with SIGFPE"


def test_a_file_of_that_name_in_the_users_folder_is_not_taken_for_the_framework(
    tmp_path, monkeypatch
):
    (tmp_path / "numpy.py").write_text("raise SystemExit('shadowed')")
    monkeypatch.chdir(tmp_path)
    assert run_probe(sys.executable, "numpy", "CPU", timeout=60).failure == ""


@pytest.fixture
def bare_python(tmp_path):
    """An interpreter with no packages at all."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "v")], check=True)
    return str(tmp_path / "v" / "bin" / "python")


def test_an_empty_interpreter_fails_fast_with_every_command_to_type(bare_python, capsys):
    started = time.monotonic()
    assert main(["doctor", "--python", bare_python, "--format", "json"]) == 1
    assert time.monotonic() - started < 10
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "ms-migrate/doctor"
    assert document["ok"] is False
    checks = {check["name"]: check for check in document["checks"]}
    for name in ("numpy", "torch", "mindspore", "safetensors"):
        assert checks[name]["status"] == PROBLEM
        assert checks[name]["fix"].startswith(f"{bare_python} -m pip install ")


def test_text_shows_checks_fixes_and_verdict_and_quiet_only_problems(bare_python, capsys):
    assert main(["doctor", "--python", bare_python]) == 1
    shown = capsys.readouterr().out
    assert "✗  torch        not installed" in shown
    assert "✓  Python" in shown
    assert f"\n  {bare_python} -m pip install torch==2.13.0\n" in shown
    assert shown.splitlines()[-1] == "4 of 8 checks found something to fix."
    assert main(["doctor", "--python", bare_python, "--quiet"]) == 1
    quiet = capsys.readouterr().out
    assert "✓" not in quiet
    assert "torchvision" not in quiet
    assert "checks found" not in quiet


def test_what_is_no_python_is_said_so(tmp_path, capsys):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho broken linker >&2\nexit 127\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert main(["doctor", "--python", str(program)]) == 1
    assert "exit code 127: broken linker" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--python", "no-such-python"], "no-such-python: no such program"),
        (["--timeout", "0"], "--timeout must be positive, not 0"),
    ],
)
def test_requests_that_make_no_sense_exit_2(arguments, message, capsys):
    assert main(["doctor", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


@pytest.mark.frameworks
def test_this_environment_is_fit(capsys):
    assert main(["doctor", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = {check["name"]: check for check in document["checks"]}
    assert document["ok"] is True
    assert found["kernels"]["status"] == OK
    assert found["device CPU"]["found"] == "available"
    assert (found["preflight"]["status"], found["preflight"]["found"]) == (OK, "works")


@pytest.mark.frameworks
def test_an_accelerator_that_is_not_there_is_a_problem(capsys):
    if os.path.exists("/dev/davinci0"):
        pytest.skip("this machine has an Ascend device")
    probe = run_probe(sys.executable, "mindspore", "Ascend", timeout=120)
    assert "import" in probe
    assert "device" not in probe
    assert "Unsupported device target Ascend" in probe.failure
