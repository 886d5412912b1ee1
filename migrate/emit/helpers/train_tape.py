"""Gradients of what was computed in other functions, recorded while the program runs.

Only for steps that could not be written as functions. MindSpore records in PyNative mode alone,
and has no public name for going back through a record.
"""

import warnings
import weakref

import mindspore
from mindspore import ops
from mindspore._c_expression import run_backward
from mindspore.experimental import optim
from mindspore.graph.api import _no_grad, _pynative_executor

from migrate.emit.helpers.train_gradient import averaged

_trained: weakref.WeakSet = weakref.WeakSet()  # optimizers: their parameters get the gradients


def record():
    """Record operators from the moment on when the program makes its first optimizer.

    A program that only imports the file, a network for one, stays as it is and may compile.
    """
    if hasattr(optim.Optimizer, "recorded"):
        return
    plain = optim.Optimizer.__init__

    def remembered(self, *args, **kwargs):
        plain(self, *args, **kwargs)
        _trained.add(self)
        start_recording()

    optim.Optimizer.__init__ = remembered
    optim.Optimizer.recorded = True


def start_recording():
    """Record all operators from here on."""
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
    """torch's loss.backward(): adds to the gradients at the parameters, `p.grad`."""
    if not loss._has_auto_grad():
        if not _trained:
            start_recording()
            return  # a backward pass on trial: no optimizer will use it
        raise RuntimeError("nothing is recorded of how this loss was computed: is it detached?")
    if create_graph:
        raise NotImplementedError("gradients of gradients are not complete in PyNative mode")
    parameters = {id(p): p for optimizer in _trained for p in optimizer.parameters}
    parameters = [p for p in parameters.values() if p.requires_grad]
    if not parameters:
        return  # a backward pass on trial: no optimizer will use it
    start = ops.ones_like(loss) if gradient is None else gradient
    ways = (bool(retain_graph), False, tuple(parameters), True)
    found = run_backward((loss,), (start,), *ways, accumulate_grad=False)
    found = _averaged_where_used(parameters, found)
    for parameter, new in zip(parameters, found, strict=True):
        if new is not None:
            old = getattr(parameter, "grad", None)
            parameter.grad = new if old is None else old + new


def _averaged_where_used(parameters, found):
    """The mean over the processes of what some process used; None of what none did."""
    owners = [getattr(parameter, "averaging", None) for parameter in parameters]
    replicated = [place for place, owner in enumerate(owners) if owner is not None]
    if not replicated:
        return found
    used = [float(found[place] is not None) for place in replicated]
    by_any = owners[replicated[0]].average([mindspore.Tensor(used, mindspore.float32)])[0].asnumpy()
    places = [place for place, any_used in zip(replicated, by_any, strict=True) if any_used]
    whole = {
        place: ops.zeros_like(parameters[place]) if found[place] is None else found[place]
        for place in places
    }
    means = averaged([parameters[place] for place in places], list(whole.values()))
    whole = dict(zip(places, means, strict=True))
    return [whole.get(place, old) for place, old in enumerate(found)]


class no_grad(_no_grad):
    """torch's no_grad: what is computed inside is not recorded."""
