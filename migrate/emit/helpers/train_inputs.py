"""torch.autograd.grad: the gradients of a function's output for some of what it is given."""

import mindspore
from mindspore import Tensor, ops

from migrate.emit.helpers.train_gradient import _draws, _same, _surroundings

# Functions compiled so far, the latest last: what stood around each, and its compiled form.
_compiled: list[object] = []
_MOST = 8


def with_gradients(function, inputs, others=(), create_graph=False):
    """function(*inputs, *others), and the gradients of the sum of its outputs for the inputs.

    Gradients that are differentiated again come from a compiled function: MindSpore's second
    gradients are wrong in PyNative mode for some layers, and nothing says so.
    """
    if _is_compiling(_same_again):
        return _differentiated(function, inputs, others, create_graph)
    return _in_mode(function, inputs, others, create_graph)


@ops.constexpr(check=False)
def _is_compiling(function):
    """The compiler has no value of Python's for a function."""
    return function is None


def _same_again(value):
    return value


def _differentiated(function, inputs, others, create_graph):
    places = tuple(range(len(inputs)))
    outputs, gradients = mindspore.value_and_grad(function, places, None)(*inputs, *others)
    if not isinstance(gradients, tuple):
        gradients = (gradients,)
    if not create_graph:
        gradients = tuple([ops.stop_gradient(gradient) for gradient in gradients])
    return outputs, gradients


def _in_mode(function, inputs, others, create_graph):
    if create_graph:
        if globals().get("RECORDING"):
            raise NotImplementedError("gradients of gradients cannot be recorded")
        return _compiled_gradients(function, inputs, others)
    if mindspore.get_context("mode") == mindspore.PYNATIVE_MODE:
        return _differentiated(function, inputs, others, create_graph)
    # An attack or a map of one batch is not worth a compilation.
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    try:
        return _differentiated(function, inputs, others, create_graph)
    finally:
        mindspore.set_context(mode=mindspore.GRAPH_MODE)


def _compiled_gradients(function, inputs, others):
    """Compiled again only when something that counts as a constant there is another one."""
    places = [i for i, other in enumerate(others) if isinstance(other, Tensor)]
    constants = tuple(None if i in places else other for i, other in enumerate(others))
    around = {**_surroundings(function), "code": function.__code__, "count": len(inputs)}
    around |= {f"constant {i}": constant for i, constant in enumerate(constants)}
    tensors = (*inputs, *[others[i] for i in places])
    for place, (known, compiled) in enumerate(_compiled):
        if _same(known, around):
            _compiled.append(_compiled.pop(place))
            return compiled(*tensors)
    if _draws(function, around):
        raise NotImplementedError("compiled, it would draw Python's or numpy's random numbers once")
    count = len(inputs)

    def whole(*given):
        rest, used = [], count
        for i in range(len(constants)):
            if i in places:
                rest.append(given[used])
                used += 1
            else:
                rest.append(constants[i])
        return _differentiated(function, given[:count], tuple(rest), True)

    compiled = mindspore.jit(whole)
    _compiled.append((around, compiled))
    del _compiled[:-_MOST]
    return compiled(*tensors)
