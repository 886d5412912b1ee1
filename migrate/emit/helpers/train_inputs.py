"""torch.autograd.grad: the gradients of a function's output for some of what it is given."""

import mindspore
from mindspore import Tensor, ops
from mindspore._c_expression import run_backward
from mindspore.common.recompute import _pynative_executor

from migrate.emit.helpers.train_constants import _same, _surroundings
from migrate.emit.helpers.train_host_state import changes_by_itself

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


def with_list_gradients(function, inputs, others=(), create_graph=False):
    """function(inputs, *others), and the gradients for the tensors of the list `inputs`."""
    if _is_compiling(_same_again):
        return _differentiated_for_list(function, inputs, others, create_graph)
    # Values of parameters, not the parameters: a graph would take those for its own.
    values = tuple([value * 1 for value in inputs])
    if create_graph:
        return _compiled_gradients(function, values, others, _differentiated_for_list)

    def of_items(*given):
        return function(list(given[: len(values)]), *given[len(values) :])

    return _in_mode(of_items, values, others, False)


def _differentiated_for_list(function, inputs, others, create_graph):
    """A graph differentiates for tensors: the list is one, with its parts behind each other."""
    like = list(inputs)

    def of_flat(flat, others):
        return function(_parts(flat, like), *others)

    flat = ops.cat([value.reshape(-1) for value in like])
    outputs, gradient = mindspore.value_and_grad(of_flat, 0, None)(flat, tuple(others))
    if not create_graph:
        gradient = ops.stop_gradient(gradient)
    return outputs, tuple(_parts(gradient, like))


def _parts(flat, like):
    found, start = [], 0
    for value in like:
        found.append(flat[start : start + value.size].reshape(value.shape))
        start += value.size
    return found


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
        return _compiled_gradients(function, inputs, others)
    if mindspore.get_context("mode") == mindspore.PYNATIVE_MODE:
        return _recorded(function, inputs, others)
    # An attack or a map of one batch is not worth a compilation.
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    try:
        return _recorded(function, inputs, others)
    finally:
        mindspore.set_context(mode=mindspore.GRAPH_MODE)


def _recorded(function, inputs, others):
    """From a record of the operators, so that one around it, of a training step, goes on."""
    on = _pynative_executor.grad_flag()
    _pynative_executor.set_grad_flag(True)
    _pynative_executor.set_enable_grad(True)
    try:
        inputs = tuple(value if value._requires_grad else _leaf(value) for value in inputs)
        outputs = function(*inputs, *others)
        parts = outputs if isinstance(outputs, tuple) else (outputs,)
        roots = tuple([p for p in parts if _may_be_differentiated(p)])
        if not roots:
            return outputs, tuple(ops.zeros_like(value) for value in inputs)
        start = tuple([ops.ones_like(root) for root in roots])
        found = run_backward(roots, start, True, False, inputs, True, accumulate_grad=False)
    finally:
        _pynative_executor.set_grad_flag(on)
    pairs = zip(inputs, found, strict=True)
    return outputs, tuple(ops.zeros_like(x) if g is None else g for x, g in pairs)


def _may_be_differentiated(value):
    """MindSpore records whole numbers, too, as those of `x.max(1)[1]`."""
    if not isinstance(value, Tensor) or not value._has_auto_grad():
        return False
    return value.is_floating_point() or value.is_complex()


def _leaf(value):
    value = ops.stop_gradient(value)
    value.requires_grad_()
    return value


def _compiled_gradients(function, inputs, others, differentiated=_differentiated):
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
    if changes_by_itself(function, around):
        raise NotImplementedError("compiled, it would draw numpy's or Python's numbers once")
    count = len(inputs)

    def whole(*given):
        rest, used = [], count
        for i in range(len(constants)):
            if i in places:
                rest.append(given[used])
                used += 1
            else:
                rest.append(constants[i])
        return differentiated(function, given[:count], tuple(rest), True)

    compiled = mindspore.jit(whole)
    _compiled.append((around, compiled))
    del _compiled[:-_MOST]
    return compiled(*tensors)
