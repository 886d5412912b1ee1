"""torch.distributed on mindspore.communication; msrun starts the processes."""

import os

import mindspore
import numpy as np
from mindspore import Tensor, communication, ops


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
    """Join the processes that msrun started; gradients are averaged over them."""
    communication.init()
    mindspore.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Run fn for this process only: msrun has started one process a rank already."""
    fn(int(os.environ.get("RANK_ID", "0")), *args)


def _world(group):
    return communication.GlobalComm.WORLD_COMM_GROUP if group is None else group


def all_reduce(tensor, op=ops.ReduceOp.SUM, group=None, async_op=False):
    """The sum (maximum, ...) of this tensor over all processes."""
    if tensor.dtype == mindspore.float64:
        # AllReduce takes no float64: gather its bits, and reduce them in every process.
        bits = Tensor(tensor.asnumpy().reshape(-1).view(np.int32))
        gathered = ops.AllGather(_world(group))(bits).asnumpy().view(np.float64)
        return Tensor(getattr(np, op)(gathered.reshape(-1, *tensor.shape), axis=0))
    return ops.AllReduce(op, _world(group))(tensor)


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """The tensor of process src."""
    root = src if group_src is None else group_src
    return ops.Broadcast(root, _world(group))((tensor,))[0]


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Put the tensor of each process into tensor_list."""
    gathered = ops.AllGather(_world(group))(tensor.expand_dims(0))
    for rank in range(len(tensor_list)):
        tensor_list[rank] = gathered[rank]


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """The tensors of all processes, one after the other, in the shape of output_tensor."""
    return ops.AllGather(_world(group))(input_tensor).reshape(output_tensor.shape)


def barrier(group=None, async_op=False, device_ids=None):
    """Wait until every process is here."""
    ops.AllReduce(ops.ReduceOp.SUM, _world(group))(Tensor([0.0], mindspore.float32)).asnumpy()


def destroy_process_group(group=None):
    """Leave together: msrun takes a process that goes before the others for a failed one."""
    barrier()
    communication.release()
