"""mindspore.value_and_grad for a training step: compiled once where MindSpore can, and updates
that leave frozen parameters alone.
"""

import dis
import os
import sys
import types
import warnings

import mindspore
from mindspore import nn, ops
from mindspore.common.recompute import _pynative_executor

from migrate.emit.helpers.helper_origin import uses
from migrate.emit.helpers.train_constants import _name_apart, _same, _surroundings
from migrate.emit.helpers.train_decorated import decorated
from migrate.emit.helpers.train_host_state import changes_by_itself
from migrate.emit.helpers.train_reach import (
    apply_to_reached,
    recorded_gradients,
    unreached,
    with_zeros,
    without_frozen,
)
from migrate.emit.helpers.train_settings import python_only


def _chosen_mode():
    """MS_MIGRATE_MODE: auto compiles training steps, graph the whole program, pynative nothing."""
    chosen = os.environ.get("MS_MIGRATE_MODE") or "auto"
    if chosen not in ("auto", "graph", "pynative"):
        raise ValueError(f"MS_MIGRATE_MODE is auto, graph or pynative, not {chosen}")
    if chosen == "graph":
        mindspore.set_context(mode=mindspore.GRAPH_MODE)
    return chosen


_MODE = _chosen_mode()
# Steps built so far, the latest last: what stood around the forward function, and the step.
_steps: list[object] = []
_MOST_STEPS = 8
# Of a forward function: how often its step was built since one could last be used again.
_built: dict[object, int] = {}
_MOST_IN_A_ROW = 4
_left_to_python: set[object] = set()  # forward functions that are not compiled
_announced: list[bool] = []  # whether the first step of the program is compiled
_looked_at: set[object] = set()  # forward functions whose first gradients were checked


def value_and_grad(fn, grad_position=0, weights=None, has_aux=False):
    """mindspore.value_and_grad of a training step, compiled unless MS_MIGRATE_MODE is pynative.

    Defined anew every epoch, the step still compiles once: it is built again only when a value
    that a graph takes for a constant is another one. A step that does not compile is run by Python,
    with a warning. Optimizers compile themselves, and would take gradients in a plain tuple for
    constants: hence mutable. Weights may be a function that lists them, where an optimizer is made
    or gets parameters later.
    """
    if uses("weights that are listed late") and callable(weights):
        return _with_current(fn, grad_position, weights, has_aux)
    called = fn
    precision = getattr(fn, "autocast", None) if uses("autocast") else None
    if precision is not None:
        fn = fn.__wrapped__  # compiled, it is marked instead

    def built(whole):
        mode = mindspore.get_context("mode")
        mindspore.set_context(mode=mindspore.GRAPH_MODE)  # in PyNative mode it gives another form
        step = mindspore.value_and_grad(fn, grad_position, weights, has_aux)
        mindspore.set_context(mode=mode)
        return mindspore.jit(getattr(step, "__wrapped__", step), fullgraph=whole)

    def noted(step, inputs, gradients, around):
        """The gradients, with a note at each weight that has none: asked once for each graph, that
        is, for the inputs that it takes for constants, and for what is frozen.
        """
        missing = vars(step).setdefault("missing", {})
        constants = tuple(v for v in inputs if isinstance(v, (bool, int, float, str, type(None))))
        case = (constants, tuple(p.requires_grad for p in weights))
        if case not in missing:
            frozen = [p for p in _parameters_of(around) if not p.requires_grad]
            missing[case] = unreached(loss_alone, inputs, weights, gradients, frozen)
        return without_frozen(weights, gradients, missing[case])

    def compiled(*inputs):
        inputs = [_as_data(value) for value in inputs]
        around = {**_surroundings(fn), "fn": fn.__code__, "weights": tuple(weights or ())}
        if uses("autocast"):
            around["precision"] = str(precision)
        for place, (known, step) in enumerate(_steps):
            if _same(known, around):
                _steps.append(_steps.pop(place))
                _built[fn.__code__] = 0
                values, gradients = step(*inputs)
                if uses("weights without gradients"):
                    gradients = noted(step, inputs, gradients, around)
                return values, mindspore.mutable(gradients)
        reason = _python_alone(fn, around)
        if uses("classes of tuples"):
            reason = reason or _python_input(inputs)
        if reason:
            return uncompiled(reason)(*inputs)
        _name_apart(around)
        untrained = [p for p in _parameters_of(around) if not p.requires_grad]
        before = [(parameter, parameter.copy()) for parameter in untrained]

        def again(reason):
            for parameter, value in before:
                ops.assign(parameter, value)
            return uncompiled(reason)(*inputs)

        # Whole or not at all: what a graph leaves to Python, dict.pop for one, has no gradient.
        step = built(whole=True)
        try:
            values, gradients = step(*inputs)
            if has_aux and not (
                len(values) == _returned(fn)
                and all(isinstance(value, mindspore.Tensor) for value in values)
            ):
                # A whole graph gives no dict back, and leaves None out; another one must find the
                # same gradients.
                for parameter, value in before:
                    ops.assign(parameter, value)
                loss, whole, step = values[0], gradients, built(whole=False)
                values, gradients = step(*inputs)
                if _are_lost(whole, gradients, bool(loss == values[0])):
                    return again("what it gives beside the loss costs gradients")
            lost = _are_zero(gradients)  # waits for them: only now a kernel may fail
        except Exception as error:
            return again(error)
        if lost:
            # The compiler loses them where, say, construct() gives self another tensor.
            return again("its first gradients are all zero")
        if uses("weights without gradients"):
            gradients = noted(step, inputs, gradients, around)
        _steps.append((around, step))
        del _steps[:-_MOST_STEPS]
        return values, mindspore.mutable(gradients)

    made = []  # in PyNative mode: what is made in Graph mode compiles

    kept = []  # what is returned beside the loss: any object, where MindSpore takes tensors

    def loss_alone(*inputs):
        values = called(*inputs)
        kept[:] = values[1:] if has_aux else ()
        return values[0] if has_aux else values

    def eager(*inputs):
        if not uses("weights without gradients") or _differentiates(fn):
            if not made:
                made.append(mindspore.value_and_grad(loss_alone, grad_position, weights))
            recording = _pynative_executor.grad_flag()
            loss, gradients = made[0](*inputs)
            if uses("weights without gradients"):
                gradients = without_frozen(weights, gradients, [False] * len(weights))
            _pynative_executor.set_grad_flag(recording)
        else:  # the record of a step has no gradients of gradients
            loss, gradients = recorded_gradients(loss_alone, inputs, weights)
            gradients = with_zeros(weights, gradients)
        values = (loss, *kept) if has_aux else loss
        if fn.__code__ not in _looked_at:
            _looked_at.add(fn.__code__)
            _look_for_gradients(gradients)
        return values, mindspore.mutable(gradients)

    def uncompiled(error):
        reason = str(error).strip().partition("\n")[0]
        warnings.warn(
            f"the step is not compiled, and the program goes on in PyNative mode: {reason}",
            RuntimeWarning,
            stacklevel=3,
        )
        _left_to_python.add(fn.__code__)
        mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
        return eager

    def step_in_mode(*inputs):
        run = compiled if _compiles(fn) else eager
        averaging = averaging_of(weights or ()) if uses("DistributedDataParallel") else None
        if not averaging:
            return run(*inputs)
        for one in averaging:
            one.before_forward()
            one.in_step = True
        try:
            values, gradients = run(*inputs)
        finally:
            for one in averaging:
                one.in_step = False
        return values, mindspore.mutable(tuple(averaged(weights, gradients)))

    return step_in_mode


def _compiles(fn):
    """Whether the step of a forward function is compiled; the first step of a program says so."""
    graph = mindspore.get_context("mode") == mindspore.GRAPH_MODE
    recorded = _pynative_executor.grad_flag()  # a graph has no place in the record of operators
    compiles = graph or not (_MODE == "pynative" or recorded or fn.__code__ in _left_to_python)
    if not _announced:
        _announced.append(compiles)
        how = "is compiled" if compiles else "runs in PyNative mode"
        print(f"The training step {how}; MS_MIGRATE_MODE=auto|graph|pynative.", file=sys.stderr)
    return compiles


def _python_alone(fn, around):
    """Why a step is not compiled at all, or no longer; empty where it may be."""
    _built[fn.__code__] = _built.get(fn.__code__, 0) + 1
    if _built[fn.__code__] > _MOST_IN_A_ROW:
        return "a value that it takes for a constant changes every time"
    cells = [value for value in around.values() if isinstance(value, nn.Cell)]
    reason = next(filter(None, map(python_only, cells)), "")
    if not reason and uses("decorators") and (name := decorated(fn)):
        return f"a graph leaves out the decorator of {name}()"
    if not reason and uses("values that change by themselves") and changes_by_itself(fn, around):
        return "it would draw Python's or numpy's random numbers once"
    return reason


def _with_current(fn, grad_position, weights, has_aux):
    """The step for the weights that the function lists when it is run."""
    steps = {}

    def step(*inputs):
        listed = list(weights())
        key = tuple(map(id, listed))
        if key not in steps:
            steps[key] = value_and_grad(fn, grad_position, listed, has_aux)
        return steps[key](*inputs)

    return step


def _parameters_of(around):
    cells = [value for value in around.values() if isinstance(value, nn.Cell)]
    return [parameter for cell in cells for parameter in cell.get_parameters()]


def averaging_of(parameters):
    """What a DistributedDataParallel around these parameters does; several processes have it."""
    found = [getattr(parameter, "averaging", None) for parameter in parameters]
    return list(dict.fromkeys(one for one in found if one is not None))


def averaged(parameters, gradients):
    """Gradients of replicated parameters as their mean over the processes, others as they are."""
    gradients = list(gradients)
    owners = [getattr(parameter, "averaging", None) for parameter in parameters]
    for one in averaging_of(parameters):
        places = [place for place, owner in enumerate(owners) if owner is one]
        found = [gradients[place] for place in places]
        if uses("weights without gradients"):
            used = [not getattr(parameters[place], "has_no_gradient", False) for place in places]
            found.append(mindspore.Tensor(used, mindspore.float32))
        means = one.average(found)
        for place, mean in zip(places, means, strict=False):
            gradients[place] = mean
        if uses("weights without gradients"):
            # What one process used is updated in all: they must stay equal.
            for place, any_used in zip(places, means[-1].asnumpy(), strict=True):
                parameters[place].has_no_gradient = not any_used
    return gradients


def _returned(fn):
    """How many values the forward function of a step gives: the loss and those beside it."""
    *_, last, _ = dis.get_instructions(fn)
    return last.arg if last.opname == "BUILD_TUPLE" else 1


def _are_lost(whole, gradients, comparable):
    """Some gradient is another one; with random numbers in between, is zero."""
    for right, found in zip(whole, gradients, strict=True):
        right, found = right.asnumpy(), found.asnumpy()
        scale = abs(right).max(initial=0.0)
        if scale > 0 and not found.any():
            return True
        if comparable and abs(right - found).max(initial=0.0) > 1e-3 * scale:
            return True
    return False


def _as_data(value):
    """Tensors in a plain tuple, the states of an LSTM, count as constants: every step would
    compile anew.
    """
    if type(value) is tuple and value and all(isinstance(v, mindspore.Tensor) for v in value):
        return mindspore.mutable(value)
    return value


def _python_input(inputs):
    """Why an input keeps the step from being compiled: a graph takes a packed sequence for the bare
    tuple of its parts.
    """
    for value in inputs:
        if isinstance(value, tuple) and type(value) is not tuple and not hasattr(value, "_fields"):
            return f"an input is a {type(value).__name__}, which a graph takes for a tuple"
    return ""


def _are_zero(gradients):
    return not any(gradient.asnumpy().any() for gradient in gradients)


def _look_for_gradients(gradients):
    """Say so when a step finds none at all: then the loss does not reach the weights."""
    if _are_zero(gradients):
        warnings.warn(
            "the first gradients are all zero: does the loss depend on the weights?",
            RuntimeWarning,
            stacklevel=3,
        )


def _differentiates(function):
    """The step itself takes gradients: a gradient penalty."""
    if not (uses("with_gradients") or uses("grad") or uses("several training steps")):
        return False
    functions = [v for v in _surroundings(function).values() if isinstance(v, types.FunctionType)]
    names = [name for one in (function, *functions) for name in one.__code__.co_names]
    return any(name in ("with_gradients", "grad", "value_and_grad") for name in names)


def update(optimizer, gradients):
    """optimizer(gradients), but parameters that are frozen or have no gradient stay as they are."""
    if not uses("weights without gradients") or hasattr(optimizer, "skips_missing"):
        return optimizer(gradients)  # it does so itself, and counts the steps
    return apply_to_reached(optimizer, gradients, optimizer)
