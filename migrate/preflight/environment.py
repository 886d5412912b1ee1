"""The environment variables of a dry run; they are set for the child process alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from migrate.preflight.installation import Installation
from migrate.preflight.stubs import CANN

# What a shell that was prepared for a real Ascend, or for debugging, would pass on to the child.
_FOREIGN = ("ASCEND_", "GLOG_", "HCCL_", "LD_", "MS_", "RANK_", "STUB_")
# PYNATIVE at DEBUG names each operator, its device and the operator whose gradient runs; DEVICE at
# INFO names each kernel with its kind.
_LOG = "{PYNATIVE:0,DEVICE:1}"


def child_environment(
    installation: Installation, stubs: Path, scratch: Path, soc: str, ranks: int = 1
) -> dict[str, str]:
    """Everything that the child sees: the user's variables without those that would interfere."""
    cann = stubs / CANN
    libraries = [str(cann / "lib64"), *map(str, installation.library_folders)]
    libraries += filter(None, [os.environ.get("LD_LIBRARY_PATH")])
    return {
        **_without(_FOREIGN, os.environ),
        **(_first_of(ranks) if ranks > 1 else {}),
        "LD_LIBRARY_PATH": os.pathsep.join(libraries),
        "ASCEND_HOME_PATH": str(cann),
        "ASCEND_OPP_PATH": str(cann / "opp"),
        "ASCEND_TOOLKIT_HOME": str(cann),
        "MS_MIGRATE_SOC": soc,
        "MS_SIMULATION_LEVEL": "1",
        "MS_SUBMODULE_LOG_v": _LOG,
        "GLOG_logtostderr": "1",
        # The compiled graphs with the source lines of every operator.
        "MS_DEV_SAVE_GRAPHS": "2",
        "MS_DEV_SAVE_GRAPHS_PATH": str(scratch / "graphs"),
        "MS_DEV_DUMP_IR_PASSES": "graph_build",
        "MS_OM_PATH": str(scratch),
        "OMP_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }


def _first_of(ranks: int) -> dict[str, str]:
    """The first process of a group, to MindSpore and to programs that were written for torchrun."""
    return {
        "RANK_SIZE": str(ranks),
        "RANK_ID": "0",
        "RANK": "0",
        "LOCAL_RANK": "0",
        "WORLD_SIZE": str(ranks),
        "LOCAL_WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "29500",
    }


def _without(prefixes: tuple[str, ...], variables: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in variables.items()
        if name.startswith("MS_MIGRATE_") or not name.startswith(prefixes)
    }
