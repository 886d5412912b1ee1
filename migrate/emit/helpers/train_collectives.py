"""torch.distributed's collectives: what torch writes into a tensor is returned here."""

import pickle

import mindspore
import numpy as np
from mindspore import Tensor, ops

from migrate.emit.helpers.train_distributed import _world, get_rank, get_world_size, in_group

_REDUCED = (mindspore.float32, mindspore.int32)  # what AllReduce takes on every device
_IN_NUMPY = {"sum": "sum", "max": "max", "min": "min", "prod": "prod", "avg": "mean"}


def _gathered_bytes(data, group=None):
    """The bytes of every process, in the order of ranks; they may differ in length."""
    size = np.frombuffer(np.int64(len(data)).tobytes(), np.int32)
    sizes = ops.AllGather(_world(group))(Tensor(size.copy())).asnumpy().view(np.int64)
    padded = np.zeros((int(sizes.max()) + 3) // 4 * 4 or 4, np.uint8)
    padded[: len(data)] = np.frombuffer(data, np.uint8)
    whole = ops.AllGather(_world(group))(Tensor(padded.view(np.int32))).asnumpy()
    parts = whole.view(np.uint8).reshape(len(sizes), -1)
    return [part[:length].tobytes() for part, length in zip(parts, sizes, strict=True)]


def _gathered(tensor, group=None):
    """The tensors of every process as numpy arrays, of any type, exact."""
    array = tensor.asnumpy()
    parts = _gathered_bytes(array.tobytes(), group)
    return [np.frombuffer(part, array.dtype).reshape(array.shape) for part in parts]


def all_reduce(tensor, op=ops.ReduceOp.SUM, group=None, async_op=False):
    """The sum (maximum, ...) of this tensor over all processes."""
    if not in_group():
        return tensor
    if op == ops.ReduceOp.SUM and tensor.dtype in _REDUCED:
        shape = tensor.shape
        return ops.AllReduce(op, _world(group))(tensor.reshape(-1)).reshape(shape)
    # On CPU AllReduce only sums, and takes no float64, int64 or float16: reduce in every process.
    every = np.stack(_gathered(tensor, group))
    reduced = getattr(np, _IN_NUMPY[op])(every, axis=0)
    return Tensor(np.asarray(reduced, every.dtype), tensor.dtype)


def reduce_to(tensor, dst=None, op=ops.ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """The sum (maximum, ...) over all processes at process dst; the others keep their tensor."""
    reduced = all_reduce(tensor, op, group)
    return reduced if get_rank(group) == (dst if group_dst is None else group_dst) else tensor


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """The tensor of process src."""
    if not in_group():
        return tensor
    root = src if group_src is None else group_src
    if tensor.dtype in _REDUCED:
        shape = tensor.shape
        return ops.Broadcast(root, _world(group))((tensor.reshape(-1),))[0].reshape(shape)
    return Tensor(_gathered(tensor, group)[root], tensor.dtype)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Put the tensor of each process into tensor_list."""
    if not in_group():
        tensor_list[0] = tensor
    elif tensor.dtype in _REDUCED:
        gathered = ops.AllGather(_world(group))(tensor.expand_dims(0))
        tensor_list[:] = [gathered[rank] for rank in range(len(tensor_list))]
    else:
        tensor_list[:] = [Tensor(part, tensor.dtype) for part in _gathered(tensor, group)]


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """The tensors of all processes, one after the other, in the shape of output_tensor."""
    parts = [None] * get_world_size(group)
    all_gather(parts, input_tensor, group)
    return ops.stack(parts).reshape(output_tensor.shape)


def gather_to(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """Put the tensor of each process into gather_list of process dst."""
    parts = [None] * get_world_size(group)
    all_gather(parts, tensor, group)
    if gather_list is not None and get_rank(group) == (dst or group_dst or 0):
        gather_list[:] = parts


def all_gather_object(object_list, obj, group=None):
    """Put the object of each process into object_list."""
    if in_group():
        object_list[:] = [pickle.loads(part) for part in _gathered_bytes(pickle.dumps(obj), group)]
    else:
        object_list[0] = obj


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """Put the object of each process into object_gather_list of process dst."""
    found = [None] * get_world_size(group)
    all_gather_object(found, obj, group)
    if object_gather_list is not None and get_rank(group) == (dst or group_dst or 0):
        object_gather_list[:] = found


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """Replace the objects of every process by those of process src."""
    found = [None] * get_world_size(group)
    all_gather_object(found, list(object_list), group)
    object_list[:] = found[src or group_src or 0]
