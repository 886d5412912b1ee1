"""torch.distributed on mindspore.communication; msrun starts the processes."""

import atexit
import os

import mindspore
from mindspore import communication


def _launched():
    """Whether msrun started this process; then torchrun's variables say what msrun's do.

    msrun's scheduler runs the program too, until it joins the group.
    """
    environment = os.environ
    if environment.get("MS_ROLE") not in ("MS_WORKER", "MS_SCHED"):
        return False
    size = environment.get("MS_WORKER_NUM", "1")
    names = {
        "RANK": environment.get("RANK_ID"),
        "LOCAL_RANK": environment.get("DEVICE_ID", "0"),
        "WORLD_SIZE": size,
        "LOCAL_WORLD_SIZE": size,  # with several nodes, export LOCAL_WORLD_SIZE for msrun
        "MASTER_ADDR": environment.get("MS_SCHED_HOST"),
        "MASTER_PORT": environment.get("MS_SCHED_PORT"),
    }
    for name, value in names.items():
        if value is not None:
            environment.setdefault(name, value)
    return True


LAUNCHED = _launched()

_HOW_TO_LAUNCH = "start it with `msrun --worker_num=N --local_worker_num=N --join=True SCRIPT ...`"


class _Group:
    """MindSpore's group stays to the end: it cannot be formed again. A group of one process needs
    no launcher.
    """

    formed = False


def init_process_group(
    backend=None,
    init_method=None,
    timeout=None,
    world_size=-1,
    rank=-1,
    store=None,
    group_name="",
    pg_options=None,
    device_id=None,
    _ranks=None,
):
    """Join the processes that msrun started."""
    if not LAUNCHED:
        if world_size > 1:
            raise RuntimeError(f"a group of {world_size} processes is wanted: {_HOW_TO_LAUNCH}")
        _Group.formed = True
        return
    _Group.formed = True
    if communication.GlobalComm.INITED:
        return
    communication.init()
    atexit.register(communication.release)
    mindspore.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    size, place = communication.get_group_size(), communication.get_rank()
    if world_size not in (-1, size) or rank not in (-1, place):
        raise RuntimeError(
            f"the program asks for rank {rank} of {world_size}, and msrun started rank {place} of "
            f"{size}: let the program take both from the launcher; with several nodes, export "
            "LOCAL_WORLD_SIZE, the processes on each node"
        )


def is_initialized():
    return _Group.formed


def in_group():
    """Whether there are other processes to talk to."""
    return _Group.formed and communication.GlobalComm.INITED


def _world(group):
    return communication.GlobalComm.WORLD_COMM_GROUP if group is None else group


def get_world_size(group=None):
    """How many processes there are."""
    if in_group():
        return communication.get_group_size(_world(group))
    if _Group.formed:
        return 1
    raise RuntimeError("there is no process group: call init_process_group first")


def get_rank(group=None):
    """The number of this process."""
    if in_group():
        return communication.get_rank(_world(group))
    if _Group.formed:
        return 0
    raise RuntimeError("there is no process group: call init_process_group first")


def device_count():
    """Devices that a process of torch would see: here each process of the node has one, and none
    where there is only the CPU.
    """
    if LAUNCHED:
        return int(os.environ["LOCAL_WORLD_SIZE"])
    return 0 if mindspore.get_context("device_target") == "CPU" else 1


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Run fn for this process only: msrun has started one process a rank already."""
    if not LAUNCHED and nprocs > 1:
        raise RuntimeError(f"{nprocs} processes are wanted: {_HOW_TO_LAUNCH}")
    fn(int(os.environ["LOCAL_RANK"]) if LAUNCHED else 0, *args)


def destroy_process_group(group=None):
    """Leave together: msrun takes a process that goes before the others for a failed one."""
    if in_group():
        barrier()
    _Group.formed = False


def barrier(group=None, async_op=False, device_ids=None):
    """Wait until every process is here."""
    if in_group():
        one = mindspore.Tensor([0.0], mindspore.float32)
        mindspore.ops.AllReduce(mindspore.ops.ReduceOp.SUM, _world(group))(one).asnumpy()
