"""Gradients of what was computed in other functions, recorded while the program runs.

Only for steps that could not be written as functions. MindSpore records in PyNative mode alone,
and has no public name for going back through a record.
"""

import warnings
import weakref

import mindspore
from mindspore import Tensor, ops
from mindspore._c_expression import run_backward
from mindspore.common.recompute import _no_grad, _pynative_executor
from mindspore.experimental import optim

from migrate.emit.helpers.train_gradient import averaged
from migrate.emit.helpers.train_leaves import gradients_at_tensors


def record():
    """Record operators from the moment on when the program makes its first optimizer.

    A program that only imports the file, a network for one, stays as it is and may compile. The
    optimizers are kept where every helper module of the program finds them.
    """
    _give_tensors_their_flag()
    if hasattr(optim.Optimizer, "recorded"):
        return
    plain = optim.Optimizer.__init__

    def remembered(self, *args, **kwargs):
        plain(self, *args, **kwargs)
        optim.Optimizer.recorded.add(self)
        start_recording()

    optim.Optimizer.__init__ = remembered
    optim.Optimizer.recorded = weakref.WeakSet()


def _give_tensors_their_flag():
    """Parameters have requires_grad; other tensors get it, and all of them `grad`."""
    Tensor.grad = gradients_at_tensors
    Tensor.requires_grad = _flag


def start_recording():
    """Record all operators from here on."""
    _give_tensors_their_flag()
    if mindspore.get_context("mode") == mindspore.GRAPH_MODE:
        warnings.warn(
            "this program's gradients are recorded while it runs: it runs in PyNative mode",
            RuntimeWarning,
            stacklevel=5,
        )
        mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    _pynative_executor.set_grad_flag(True)
    _pynative_executor.set_enable_grad(True)


def backward(loss, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """torch's loss.backward(): adds to the gradients at parameters and other leaves, `p.grad`."""
    if not loss._has_auto_grad():
        if not _pynative_executor.grad_flag():
            start_recording()
            return  # a backward pass on trial: no optimizer will use it
        raise RuntimeError("nothing is recorded of how this loss was computed: is it detached?")
    if create_graph:
        raise NotImplementedError("gradients of gradients are not complete in PyNative mode")
    if gradient is None and loss.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    optimizers = getattr(optim.Optimizer, "recorded", ())
    trained = {id(p): p for optimizer in optimizers for p in optimizer.parameters}
    shared = [p for p in trained.values() if p.requires_grad and hasattr(p, "averaging")]
    before = [parameter.grad for parameter in shared]
    for parameter in shared:
        parameter.grad = None
    start = ops.ones_like(loss) if gradient is None else gradient
    among = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs or ())
    run_backward((loss,), (start,), bool(retain_graph), False, among, True, accumulate_grad=True)
    found = _averaged_where_used(shared, [parameter.grad for parameter in shared])
    for parameter, old, new in zip(shared, before, found, strict=True):
        parameter.grad = old if new is None else new if old is None else old + new


def recorded_grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
):
    """torch.autograd.grad of values that were recorded."""
    if create_graph or is_grads_batched:
        raise NotImplementedError("gradients of gradients are not complete in PyNative mode")
    outputs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    starts = (grad_outputs,) if isinstance(grad_outputs, Tensor) else grad_outputs
    starts = starts or [None] * len(outputs)
    pairs = zip(starts, outputs, strict=True)
    starts = tuple(ops.ones_like(one) if start is None else start for start, one in pairs)
    unused = bool(allow_unused or materialize_grads)
    found = run_backward(
        outputs, starts, bool(retain_graph), False, inputs, unused, accumulate_grad=False
    )
    if materialize_grads:
        pairs = zip(inputs, found, strict=True)
        found = [ops.zeros_like(one) if gradient is None else gradient for one, gradient in pairs]
    return tuple(found)


def _averaged_where_used(parameters, found):
    """The mean over the processes of what some process used; None of what none did."""
    if not parameters:
        return found
    used = [float(gradient is not None) for gradient in found]
    first = parameters[0].averaging
    by_any = first.average([mindspore.Tensor(used, mindspore.float32)])[0].asnumpy()
    places = [place for place, any_used in enumerate(by_any) if any_used]
    whole = {
        place: ops.zeros_like(parameters[place]) if found[place] is None else found[place]
        for place in places
    }
    means = averaged([parameters[place] for place in places], list(whole.values()))
    whole = dict(zip(places, means, strict=True))
    return [whole.get(place, old) for place, old in enumerate(found)]


def _requires_grad(tensor):
    return tensor._requires_grad


def _set_requires_grad(tensor, flag):
    tensor.requires_grad_(flag)
    if flag:
        start_recording()


_flag = property(_requires_grad, _set_requires_grad)


def recorded_leaf(tensor, requires_grad=True):
    """torch's requires_grad_(): the tensor itself, whose gradient is recorded from here on."""
    tensor.requires_grad = requires_grad
    return tensor


class no_grad(_no_grad):
    """torch's no_grad: what is computed inside is not recorded."""
