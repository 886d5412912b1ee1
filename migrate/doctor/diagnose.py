"""From what the probes told to what is wrong and what to type: pure, so every case is tested."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from migrate.doctor.probe import Probe
from migrate.onednn import VARIABLE, Timing

OK, WARNING, PROBLEM, SKIPPED = "ok", "warning", "problem", "skipped"

# The versions every row of the table was checked with.
TESTED = {"torch": "2.13.0", "mindspore": "2.10.0", "torchvision": "0.28.0"}
# Convolutions of this size in float32 differ by some 1e-7; accelerators may round to 10 bits.
TOLERANCE = {"CPU": 1e-4, "GPU": 1e-2, "Ascend": 1e-2}

_INSTALL_PAGE = "https://www.mindspore.cn/install"


@dataclass(frozen=True)
class Check:
    """One line of the diagnosis."""

    name: str
    status: str
    found: str
    detail: str = ""
    fix: str = ""


def diagnose(
    probes: Mapping[str, Probe], device: str, python: str, timing: Timing | None = None
) -> list[Check]:
    """Every check in the order in which a person would repair them."""
    pip = f"{python} -m pip install"
    checks = [_python(probes["interpreter"], python)]
    if "python" not in probes["interpreter"]:
        return checks
    checks += [
        _numpy(probes, pip),
        _framework("torch", probes, pip),
        _framework("mindspore", probes, pip),
        _device(probes, device, pip),
        _kernels(probes, device, pip),
        _safetensors(probes, pip),
        _torchvision(probes, pip),
    ]
    if timing is not None and device == "CPU":
        checks.append(_convolution(timing))
    return checks


def _convolution(timing: Timing) -> Check:
    """Only where oneDNN's own choice of instructions was found slow on such a processor."""
    name, plain = "convolution", f"{timing.plain:.1f} ms"
    if not timing.choice:
        return Check(name, OK, plain, "oneDNN's own choice of instructions is as fast as AVX2")
    detail = (
        f"{timing.limited:.1f} ms with {VARIABLE}={timing.choice}, which ms-migrate sets for its "
        "own workers; set it for your programs too, before mindspore is imported"
    )
    return Check(name, WARNING, plain, detail, f"export {VARIABLE}={timing.choice}")


def _python(probe: Probe, python: str) -> Check:
    version = probe.fact("python", "version")
    if version is None:
        detail = f"{python}: {probe.failure}"
        return Check("Python", PROBLEM, "none", detail, "give --python a working Python")
    found = ".".join(map(str, version))
    if tuple(version[:2]) < (3, 11):
        return Check(
            "Python",
            PROBLEM,
            found,
            "ms-migrate needs 3.11",
            "make clean && make PYTHON=python3.11 venv",
        )
    if tuple(version[:2]) > (3, 11):
        return Check("Python", WARNING, found, "tested with 3.11; the frameworks may lack wheels")
    return Check("Python", OK, found)


def _numpy(probes: Mapping[str, Probe], pip: str) -> Check:
    fix = f"{pip} 'numpy>=1.26.4,<2'"
    version = _installed(probes, "numpy")
    if not version:
        return Check(
            "numpy", PROBLEM, "not installed", "both frameworks pass arrays through it", fix
        )
    if failure := probes["numpy"].failure:
        repair = _repair(probes["numpy"], f"{fix} --force-reinstall")
        return Check("numpy", PROBLEM, version, f"import fails: {failure}", repair)
    version = str(probes["numpy"].fact("import", "version"))
    if _numeric(version) >= (2,):
        detail = "mindspore 2.10.0 installs beside numpy 2, then `x += y` raises SystemError"
        return Check("numpy", PROBLEM, version, detail, fix)
    return Check("numpy", OK, version, "below 2, as mindspore needs")


def _framework(name: str, probes: Mapping[str, Probe], pip: str) -> Check:
    version, tested = _installed(probes, name), TESTED[name]
    fix = f"{pip} {name}=={tested}"
    if not version:
        detail = "analyze, port and lookup do without; capture, parity, verify and demo need it"
        return Check(name, PROBLEM, "not installed", detail, fix)
    probe = probes[name]
    if "import" not in probe:
        detail = f"import fails: {probe.failure}"
        return Check(name, PROBLEM, version, detail, _repair(probe, f"{fix} --force-reinstall"))
    version = str(probe.fact("import", "version"))
    if _numeric(version) != _numeric(tested):
        return Check(name, WARNING, version, f"imports; the table was checked with {tested}", fix)
    return Check(name, OK, version, "imports")


def _device(probes: Mapping[str, Probe], device: str, pip: str) -> Check:
    name = f"device {device}"
    probe = probes.get("mindspore", Probe())
    if "import" not in probe:
        return Check(name, SKIPPED, "not checked", "mindspore does not import")
    if "device" in probe:
        return Check(name, OK, "available", "chosen by mindspore.set_device")
    fix = f"install the {device} build and its driver: {_INSTALL_PAGE}"
    if device == "CPU":
        fix = f"{pip} mindspore=={TESTED['mindspore']} --force-reinstall"
    return Check(name, PROBLEM, "not available", probe.failure, _repair(probe, fix))


def _kernels(probes: Mapping[str, Probe], device: str, pip: str) -> Check:
    """A convolution and its gradients in both frameworks, compared number by number."""
    name = "kernels"
    for framework in ("torch", "mindspore"):
        probe = probes.get(framework, Probe())
        if "import" not in probe:
            return Check(name, SKIPPED, "not checked", f"{framework} does not import")
        if framework == "mindspore" and "device" not in probe:
            return Check(name, SKIPPED, "not checked", f"no device {device}")
        if "kernels" not in probe:
            fix = f"{pip} {framework}=={TESTED[framework]} --force-reinstall"
            if (numpy := _numpy(probes, pip)).status == PROBLEM:
                fix = numpy.fix  # the likely cause, and the cheaper cure
            detail = f"convolution and gradient: {probe.failure}"
            return Check(name, PROBLEM, f"{framework} fails", detail, _repair(probe, fix))
    error = _difference(probes["torch"], probes["mindspore"])
    found = f"differ by {error:.1e}"
    if not error <= TOLERANCE[device]:  # also when it is not a number
        detail = f"convolution and gradient; at most {TOLERANCE[device]:g} is rounding"
        fix = f"{pip} torch=={TESTED['torch']} mindspore=={TESTED['mindspore']} --force-reinstall"
        return Check(name, PROBLEM, found, detail, fix)
    return Check(name, OK, found, "a convolution and its gradients, torch beside mindspore")


def _safetensors(probes: Mapping[str, Probe], pip: str) -> Check:
    if version := _installed(probes, "safetensors"):
        return Check("safetensors", OK, version)
    detail = "captures and converted weights are kept in it"
    return Check("safetensors", PROBLEM, "not installed", detail, f"{pip} safetensors")


def _torchvision(probes: Mapping[str, Probe], pip: str) -> Check:
    """Optional, and usable without its C++ operators: never more than a warning."""
    name, version = "torchvision", _installed(probes, "torchvision")
    fix = f"{pip} torchvision=={TESTED[name]}"
    if not version:
        return Check(name, WARNING, "not installed", "only programs that use it need it", fix)
    probe = probes[name]
    if "import" not in probe:
        detail = f"import fails: {probe.failure}"
        return Check(name, WARNING, version, detail, _repair(probe, f"{fix} --force-reinstall"))
    if not probe.fact("import", "operators"):
        detail = (
            "its C++ operators (nms, roi_align) do not load beside this torch; ms-migrate works "
            "round it, a plain `import torchvision` fails"
        )
        fix = f"{fix} --force-reinstall --no-deps  # from torch's index of CPU builds"
        return Check(name, WARNING, version, detail, fix)
    version = str(probe.fact("import", "version"))
    if _numeric(version) != _numeric(TESTED[name]):
        return Check(name, WARNING, version, f"the tests ran with {TESTED[name]}", fix)
    return Check(name, OK, version, "imports, C++ operators run")


def _repair(probe: Probe, fix: str) -> str:
    """Something slow is not yet something broken."""
    return "give it more time: ms-migrate doctor --timeout 600" if probe.late else fix


def _installed(probes: Mapping[str, Probe], package: str) -> str:
    packages = probes["interpreter"].fact("python", "packages") or {}
    return str(packages.get(package, ""))


def _numeric(version: str) -> tuple[int, ...]:
    """2.13.0+cpu is 2.13.0: the local part names the build, not the version."""
    release = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, release[0].split("."))) if release else ()


def _difference(torch: Probe, mindspore: Probe) -> float:
    """The largest difference of loss and gradients, relative to the largest gradient."""
    ours, theirs = (
        [probe.fact("kernels", "loss"), *probe.fact("kernels", "gradients")]
        for probe in (mindspore, torch)
    )
    if len(ours) != len(theirs) or not all(map(math.isfinite, [*ours, *theirs])):
        return math.inf
    scale = max(map(abs, theirs)) or 1.0
    return float(max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / scale)
