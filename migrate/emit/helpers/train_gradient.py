"""mindspore.value_and_grad for a training step: compiled once in Graph mode, and updates that
leave frozen parameters alone.
"""

import types
import warnings

import mindspore
from mindspore import nn, ops
from mindspore.common.recompute import _pynative_executor

from migrate.emit.helpers.helper_origin import of_helpers, uses
from migrate.emit.helpers.train_reach import (
    apply_to_reached,
    mark_missing,
    recorded_gradients,
    unreached,
    with_zeros,
)
from migrate.emit.helpers.train_settings import Settings, python_only

# Steps built so far, the latest last: what stood around the forward function, and the step.
_steps: list[object] = []
_MOST_STEPS = 8
_UNBOUND = types.CellType()
# Of a forward function: how often its step was built since one could last be used again.
_built: dict[object, int] = {}
_MOST_IN_A_ROW = 4
_looked_at: set[object] = set()  # forward functions whose first gradients were checked


def value_and_grad(fn, grad_position=0, weights=None, has_aux=False):
    """mindspore.value_and_grad of a training step, compiled in Graph mode.

    Defined anew every epoch, the step still compiles once: it is built again only when a value
    that Graph mode takes for a constant is another one. Optimizers compile themselves in both
    modes, and would take gradients in a plain tuple for constants: hence mutable. Weights may be a
    function that lists them, where an optimizer is made or gets parameters later.
    """
    if callable(weights):
        return _with_current(fn, grad_position, weights, has_aux)
    called, precision = fn, getattr(fn, "autocast", None)
    fn = fn if precision is None else fn.__wrapped__  # compiled, it is marked instead

    def built(whole):
        step = mindspore.value_and_grad(fn, grad_position, weights, has_aux)
        return mindspore.jit(getattr(step, "__wrapped__", step), fullgraph=whole)

    def note(missing, inputs, gradients, around):
        """Which weights have no gradient: asked once for each graph, that is, for the inputs that
        it takes for constants.
        """
        constants = tuple(v for v in inputs if isinstance(v, (bool, int, float, str, type(None))))
        if constants not in missing:
            frozen = [p for p in _parameters_of(around) if not p.requires_grad]
            missing[constants] = unreached(loss_alone, inputs, weights, gradients, frozen)
        mark_missing(weights, missing[constants])

    def compiled(*inputs):
        inputs = [_as_data(value) for value in inputs]
        around = {**_surroundings(fn), "fn": fn.__code__, "weights": tuple(weights or ())}
        around["precision"] = str(precision)
        for place, (known, step, missing) in enumerate(_steps):
            if _same(known, around):
                _steps.append(_steps.pop(place))
                _built[fn.__code__] = 0
                values, gradients = step(*inputs)
                note(missing, inputs, gradients, around)
                return values, mindspore.mutable(gradients)
        _built[fn.__code__] = _built.get(fn.__code__, 0) + 1
        if _built[fn.__code__] > _MOST_IN_A_ROW:
            return uncompiled("a value that it takes for a constant changes every time")(*inputs)
        cells = [value for value in around.values() if isinstance(value, nn.Cell)]
        reason = next(filter(None, map(python_only, cells)), "")
        if reason:
            return uncompiled(reason)(*inputs)
        if _draws(fn, around):
            return uncompiled("it would draw Python's or numpy's random numbers once")(*inputs)
        _name_apart(around)
        untrained = [p for p in _parameters_of(around) if not p.requires_grad]
        before = [(parameter, parameter.copy()) for parameter in untrained]

        def again():
            for parameter, value in before:
                ops.assign(parameter, value)

        # Whole or not at all: what a graph leaves to Python, dict.pop for one, has no gradient.
        step = built(whole=True)
        try:
            values, gradients = step(*inputs)
            if has_aux and not all(isinstance(value, mindspore.Tensor) for value in values):
                # A whole graph gives no dict back; another one must find the same gradients.
                again()
                loss, whole, step = values[0], gradients, built(whole=False)
                values, gradients = step(*inputs)
                if _are_lost(whole, gradients, bool(loss == values[0])):
                    again()
                    return uncompiled("what it gives beside the loss costs gradients")(*inputs)
        except Exception as error:
            return uncompiled(error)(*inputs)
        if _are_zero(gradients):
            # The compiler loses them where, say, construct() gives self another tensor.
            again()
            return uncompiled("its first gradients are all zero")(*inputs)
        _steps.append((around, step, {}))
        note(_steps[-1][2], inputs, gradients, around)
        del _steps[:-_MOST_STEPS]
        return values, mindspore.mutable(gradients)

    made = []  # in PyNative mode: what is made in Graph mode compiles

    kept = []  # what is returned beside the loss: any object, where MindSpore takes tensors

    def loss_alone(*inputs):
        values = called(*inputs)
        kept[:] = values[1:] if has_aux else ()
        return values[0] if has_aux else values

    def eager(*inputs):
        if _differentiates(fn):  # the record of a step has no gradients of gradients
            if not made:
                made.append(mindspore.value_and_grad(loss_alone, grad_position, weights))
            recording = _pynative_executor.grad_flag()
            loss, gradients = made[0](*inputs)
            _pynative_executor.set_grad_flag(recording)
        else:
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
        mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
        return eager

    def step_in_mode(*inputs):
        graph = mindspore.get_context("mode") == mindspore.GRAPH_MODE
        run = compiled if graph else eager
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
        used = [not getattr(parameters[place], "has_no_gradient", False) for place in places]
        flags = mindspore.Tensor(used, mindspore.float32)
        *means, by_any = one.average([*(gradients[place] for place in places), flags])
        for place, mean, any_used in zip(places, means, by_any.asnumpy(), strict=True):
            gradients[place] = mean
            # What one process used is updated in all: they must stay equal.
            parameters[place].has_no_gradient = not any_used
    return gradients


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
    if isinstance(value, tuple) and value and all(isinstance(v, mindspore.Tensor) for v in value):
        return mindspore.mutable(value)
    return value


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


def _surroundings(function):
    """What Graph mode takes for constants: values a function reads from outside, the attributes it
    and the functions and methods it calls read of them, and the settings of Cells.
    """
    around, words, functions = {}, set(), [function]
    for called in functions:  # grows on the way
        code, known = called.__code__, called.__globals__
        for name, cell in zip(code.co_freevars, called.__closure__ or (), strict=True):
            if cell != _UNBOUND:  # a variable that no branch has bound yet
                around.setdefault(name, cell.cell_contents)
        around |= {n: known[n] for n in code.co_names if n in known and n not in around}
        words |= set(code.co_names)
        owners = [type(value) for value in around.values() if not isinstance(value, nn.Cell)]
        found = [around.get(n) for n in code.co_names]
        found += [vars(owner).get(n) for owner in owners for n in code.co_names]
        functions += [
            one
            for one in found
            if isinstance(one, types.FunctionType)
            and not (one.__module__ or "mindspore").startswith("mindspore")
            and not of_helpers(one)
            and one not in functions
        ]
    pending = list(around.items())
    while pending:
        name, value = pending.pop()
        if isinstance(value, nn.Cell):
            around[f"{name}.settings"] = Settings(value)
        elif not isinstance(value, (types.ModuleType, type, types.FunctionType)):
            attributes = getattr(value, "__dict__", {})
            for word in sorted(words):
                if word in attributes and f"{name}.{word}".count(".") < 4:
                    around[f"{name}.{word}"] = attributes[word]
                    pending.append((f"{name}.{word}", attributes[word]))
    return around


def _differentiates(function):
    """The step itself takes gradients: a gradient penalty."""
    functions = [v for v in _surroundings(function).values() if isinstance(v, types.FunctionType)]
    names = [name for one in (function, *functions) for name in one.__code__.co_names]
    return any(name in ("with_gradients", "grad", "value_and_grad") for name in names)


def _draws(function, around):
    """Random numbers that a compiled step would take for constants."""
    functions = [function, *around.values()]
    for cell in [value for value in around.values() if isinstance(value, nn.Cell)]:
        functions += [type(part).construct for _, part in cell.cells_and_names()]
    for called in functions:
        if isinstance(called, types.FunctionType):
            names = called.__code__.co_names
            for name in names:
                module = getattr(called.__globals__.get(name), "__name__", "")
                if module in ("random", "numpy.random") or (
                    module == "numpy" and "random" in names
                ):
                    return True
    return False


def _same(known, around):
    """Plain values must be equal, all others the same objects."""
    if known.keys() != around.keys():
        return False
    for name, old in known.items():
        new = around[name]
        if isinstance(old, (bool, int, float, str, bytes)):
            if type(old) is not type(new) or old != new:
                return False
        elif isinstance(old, Settings):
            if type(new) is not Settings or not old.same(new):
                return False
        elif isinstance(old, (tuple, list)) and type(old) is type(new):
            if len(old) != len(new) or any(
                a is not b and not (isinstance(a, (bool, int, float, str)) and a == b)
                for a, b in zip(old, new, strict=True)
            ):
                return False
        elif old is not new:
            return False
    return True


def _name_apart(around):
    """Two Cells in one graph may not have parameters of the same name: prefix the Cell's name."""
    names = {}
    for path, cell in around.items():
        if not isinstance(cell, nn.Cell):
            continue
        parameters = list(cell.get_parameters())
        if any(names.get(p.name, p) is not p for p in parameters):
            cell.update_parameters_name(path.rpartition(".")[2] + ".")
        names |= {p.name: p for p in parameters}


def update(optimizer, gradients):
    """optimizer(gradients), but parameters that are frozen or have no gradient stay as they are."""
    if hasattr(optimizer, "skips_missing"):  # it does so itself, and counts the steps
        return optimizer(gradients)
    return apply_to_reached(optimizer, gradients, optimizer)
