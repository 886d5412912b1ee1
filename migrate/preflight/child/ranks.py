"""One process of a group: MindSpore's dry run simulates the others.

The group's size and this process's place in it are in the environment before MindSpore is loaded;
here is what a launcher and CANN's Python packages would have brought.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


def install_hccl() -> None:
    """MindSpore asks CANN's package for its version before it forms a group."""
    package, version = ModuleType("hccl"), ModuleType("hccl.sys_version")
    vars(version)["__sys_version__"] = "0.0"
    vars(package)["sys_version"] = version
    sys.modules |= {"hccl": package, "hccl.sys_version": version}


def form_group() -> None:
    """As data parallel programs do before their first operator."""
    import mindspore
    from mindspore import communication

    communication.init()
    mindspore.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)


def join_helpers(ranks: int) -> Any:
    """What to do with the helper module of a ported program: it was launched, and what the other
    processes send is as long as our own.
    """

    def act(module: ModuleType) -> None:
        names = vars(module)
        if "LAUNCHED" in names:
            names["LAUNCHED"] = True
        if "_gathered_bytes" in names:
            names["_gathered_bytes"] = lambda data, group=None: [data] * ranks

    return act


def notes(ranks: int) -> list[str]:
    """What to say of the group."""
    from mindspore import communication

    if ranks == 1:
        return []
    if communication.GlobalComm.INITED:
        return [f"as process 0 of {ranks}; the other processes were simulated"]
    return [f"the program formed no group of {ranks} processes: no collective operator was tried"]
