"""The base class of optimizers that a program writes itself, with torch's interface."""

from mindspore.experimental import optim

from migrate.emit.helpers.optim_mapped import with_unique_names
from migrate.emit.helpers.train_leaves import from_tensors, to_tensors


class Optimizer(optim.Optimizer):
    """A subclass updates its parameters in step(): from p.grad, with what it keeps in
    self.state[p]. It runs as plain Python in both modes.
    """

    def __init__(self, params, defaults):
        super().__init__(with_unique_names(params), {"lr": 0.0, **defaults})

    def __call__(self, gradients):
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            without = getattr(parameter, "has_no_gradient", not parameter.requires_grad)
            parameter.grad = None if without else gradient
        from_tensors(self.parameters)
        loss = self.step()
        to_tensors(self.parameters)
        return loss
