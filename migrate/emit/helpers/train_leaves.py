"""`x.grad` and `x.requires_grad` of all tensors: MindSpore has them under names of its own."""

from mindspore import Parameter, Tensor, ops
from mindspore.common.recompute import _no_grad, _pynative_executor
from mindspore.experimental import optim


def _gradient(tensor):
    known = vars(tensor)
    if "retained" in known:
        return known["retained"]
    return known.get("trained_for", tensor)._grad


def _set_gradient(tensor, gradient):
    known = vars(tensor)
    if "retained" in known:
        known["retained"] = gradient
    known.get("trained_for", tensor)._grad = gradient


gradients_at_tensors = Tensor.grad = property(_gradient, _set_gradient)


def retain_grad(tensor):
    """torch's retain_grad: a tensor that was computed keeps its gradient, too."""
    if tensor._is_leaf or "retained" in vars(tensor):
        return
    tensor.retained = None

    def add(gradient):
        old = tensor.retained
        tensor.retained = gradient if old is None else old + gradient

    tensor.register_hook(add)


def as_parameter(value, name):
    """A Parameter that an optimizer can hold in the place of a plain tensor: the gradient is the
    tensor's, and `to_tensors` gives the tensor its new values.
    """
    if isinstance(value, Parameter) or not isinstance(value, Tensor):
        return value
    if not hasattr(optim.Optimizer, "recorded") and not _pynative_executor.grad_flag():
        raise TypeError("an optimizer of a plain tensor needs recorded gradients: helpers.record()")
    made = Parameter(value.copy(), name=name)
    made.trained_for = value
    return made


def from_tensors(parameters):
    """The values of the plain tensors that these stand for: the program may have changed them."""
    for parameter in parameters:
        tensor = vars(parameter).get("trained_for")
        if tensor is not None:
            ops.assign(parameter, tensor)


def to_tensors(parameters):
    """What the optimizer made of the parameters, as values of the plain tensors."""
    for parameter in parameters:
        tensor = vars(parameter).get("trained_for")
        if tensor is not None:
            with _no_grad():
                if tensor.ndim:
                    tensor[:] = parameter.copy()
                else:
                    tensor.copy_(parameter.copy())
