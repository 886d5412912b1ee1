"""Modes of torch programs: training, in which its modules start, and gradients switched off."""

from mindspore import Tensor, nn, ops
from mindspore.experimental import optim


def start_in_training_mode():
    """Let every Cell that is built from here on start in training mode, as torch's modules do.

    A Cell built by others, and one whose constructor sets a mode itself, are then as in torch; a
    set_train() behind the construction would reach all layers below.
    """
    if hasattr(nn.Cell, "starts_in_training_mode"):
        return
    plain = nn.Cell.__init__

    def in_training_mode(self, *args, **kwargs):
        plain(self, *args, **kwargs)
        if not isinstance(self, (nn.Optimizer, optim.Optimizer)):
            self._phase = "train"
            self.add_flags(training=True)

    nn.Cell.__init__ = in_training_mode
    nn.Cell.starts_in_training_mode = True


_SWITCHING: list[nn.Cell] = []  # Cells whose set_train is under way


def spreads_set_train(cls):
    """Let the set_train of an enclosing Cell call this class's own, as torch's train() does."""
    own, spread = cls.set_train, cls.add_flags_recursive

    def set_train(self, *args, **kwargs):
        _SWITCHING.append(self)
        try:
            return own(self, *args, **kwargs)
        finally:
            _SWITCHING.pop()

    def add_flags_recursive(self, **flags):
        if "training" not in flags or any(cell is self for cell in _SWITCHING):
            return spread(self, **flags)
        self.set_train(flags.pop("training"))
        return spread(self, **flags) if flags else self

    cls.set_train, cls.add_flags_recursive = set_train, add_flags_recursive
    return cls


def stop_gradients(value, unless=False):
    """What torch computes under no_grad: tensors, in containers too, carry no gradient."""
    if unless:
        return value
    if isinstance(value, Tensor):
        return ops.stop_gradient(value)
    if isinstance(value, tuple):
        return tuple([stop_gradients(one) for one in value])
    if isinstance(value, list):
        return [stop_gradients(one) for one in value]
    if isinstance(value, dict):
        return {name: stop_gradients(one) for name, one in value.items()}
    return value


class no_gradients:
    """torch.no_grad() as a value: a decorator for functions, a context without effect."""

    def __init__(self, mode=False):
        self.unless = mode is True

    def __call__(self, function):
        def without_gradients(*args, **kwargs):
            return stop_gradients(function(*args, **kwargs), self.unless)

        return without_gradients

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False
