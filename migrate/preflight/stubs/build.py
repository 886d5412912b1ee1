"""Write the libraries that take CANN's place, from what the installed MindSpore expects of CANN.

Two libraries and names for them: libms_migrate_ge.so, compiled from our graph_engine.cc and shipped
with this package, and libms_migrate_stubs.so, generated here, with a function that returns 0 for
every other symbol. Nothing of CANN is in either.
"""

from __future__ import annotations

import ctypes
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from migrate.preflight.stubs import CANN, elf_symbols
from migrate.preflight.stubs.elf_writer import shared_library

GRAPH_ENGINE = Path(__file__).with_name("libms_migrate_ge.so")
STUBS = "libms_migrate_stubs.so"

# What MindSpore opens by name; what it links is read from the wheel.
NAMES = (
    "acl_op_compiler",
    "acl_tdt_channel",
    "acl_tdt_queue",
    "ascend_hal",
    "ascendcl",
    "atb",
    "c_sec",
    "ge_runner",
    "graph",
    "hccl",
    "msprofiler",
    "nnopbase",
    "opapi",
    "platform",
    "runtime",
)

# The parts of MindSpore that expect CANN, below mindspore/lib.
_PLUGINS = (
    "plugin/libmindspore_ascend.so.2",
    "plugin/libmindspore_ops_ascend.so",
    "plugin/ascend/libmindspore_symmetric_memory_kernels.so",
    "plugin/ascend/libmindspore_ascend_res_manager.so",
    "plugin/ascend/libmindspore_graph_ir.so",
    "plugin/ascend/libd_collective.so",
    "plugin/ascend/libhccl_plugin.so",
    "plugin/ascend/libdvpp_utils.so",
    "plugin/ascend/libmindspore_internal_kernels.so",
    "plugin/ascend/libmindspore_atb_kernels.so",
    "plugin/ascend/libmindspore_pyboost_atb_kernels.so",
    "plugin/ascend/ms_kernels_internal/internal_kernel/lib/libms_kernels_internal.so",
    "plugin/ascend/ms_kernels_symmetric_memory/shmem/shmem/lib/libshmem.so",
    "plugin/ascend/ms_kernels_symmetric_memory/shmem/memfabric_hybrid/lib/libmf_smem.so",
    "plugin/ascend/ms_kernels_symmetric_memory/shmem/memfabric_hybrid/lib/libmf_hybm_core.so",
)
# Looked up by name at run time (dlsym): the names are strings in these libraries.
_DEVICE_CALLS = re.compile(rb"(?<=\0)acl(?!nn)[a-z]*[A-Z]\w+(?=\0)")
_OPERATORS = re.compile(rb"(?<=\0)aclnn[A-Z][A-Za-z0-9]+(?=\0)")
_OTHER_CALLS = (
    "halHostRegister",
    "halHostUnregister",
    "rtGetIsHeterogenous",
    "aclnnInit",
    "aclnnFinalize",
    "InitHugeMemThreadLocal",
    "UnInitHugeMemThreadLocal",
    "ReleaseHugeMem",
    "CanUsePTACache",
    "PTAGetExecCache",
    "InitPTACacheThreadLocal",
    "UnInitPTACacheThreadLocal",
    "SetPTAHashKey",
    "AddTensorAddrToCachedList",
)
# Results of these are used: a null pointer would be taken for a failure.
_CREATES = re.compile(
    r"aclCreate(BoolArray|FloatArray|IntArray|Scalar|Tensor|TensorList|Fp16Array|Bf16Array"
    r"|ScalarList)"
)
# Not all of the plugin's libraries bind what they use of these to a version.
_SYSTEM = ("libstdc++.so.6", "libdl.so.2", "libpthread.so.0")
_OBJECT = re.compile(r"_ZT[VIS]|_ZGV")


def build(mindspore: Path, output: Path) -> None:
    """Write output/cann/lib64; `mindspore` is the package's folder."""
    lib64 = output / CANN / "lib64"
    lib64.mkdir(parents=True)
    for name in ("opp", "opp_kernel"):
        (output / CANN / name).mkdir()
    plugins = [path for name in _PLUGINS if (path := mindspore / "lib" / name).exists()]
    functions, objects = _expected(mindspore / "lib", plugins)
    pointers = {name for name in functions if _CREATES.fullmatch(name)}
    content = shared_library(STUBS, [GRAPH_ENGINE.name], functions - pointers, pointers, objects)
    (lib64 / STUBS).write_bytes(content)
    shutil.copyfile(GRAPH_ENGINE, lib64 / GRAPH_ENGINE.name)
    for name in {f"lib{name}.so" for name in NAMES} | _absent(mindspore / "lib", plugins):
        (lib64 / name).symlink_to(STUBS)


def _absent(lib: Path, plugins: Iterable[Path]) -> set[str]:
    """Libraries that this release links and that neither the wheel nor the system has."""
    linked = set().union(*(elf_symbols.read(path).needed for path in plugins))
    shipped = {path.name for path in lib.parent.rglob("*.so*")}
    return {name for name in linked - shipped if not _on_system(name)}


def _on_system(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _expected(lib: Path, plugins: list[Path]) -> tuple[set[str], set[str]]:
    """The functions and the data objects that have to exist for the Ascend backend to load."""
    own = elf_symbols.read(GRAPH_ENGINE).defined
    symbols = {
        path: elf_symbols.read(path)
        for path in {*plugins, *lib.glob("*.so*"), *lib.parent.glob("*.so")}
    }
    defined = own.union(*(found.defined for found in symbols.values()))
    missing = set().union(*(symbols[path].missing for path in plugins))
    wanted = missing | set(_OTHER_CALLS) | _looked_up(plugins)
    system = [ctypes.CDLL(name) for name in _SYSTEM]
    wanted = {
        name
        for name in wanted - defined
        if not name.startswith(("Py", "_Py")) and not any(hasattr(lib, name) for lib in system)
    }
    objects = {name for name in wanted if _OBJECT.match(name)}
    return wanted - objects, objects


def _looked_up(plugins: Iterable[Path]) -> set[str]:
    names: set[str] = set()
    for path in plugins:
        if path.name not in ("libmindspore_ops_ascend.so", "libmindspore_ascend_res_manager.so"):
            continue
        content = path.read_bytes()
        names |= {word.decode() for word in _DEVICE_CALLS.findall(content)}
        for word in _OPERATORS.findall(content):
            names |= {word.decode(), word.decode() + "GetWorkspaceSize"}
    return names
