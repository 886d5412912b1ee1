"""Functions with a gradient of their own, called by `apply` as torch's are."""

from mindspore import Tensor, nn, ops


class Function(nn.Cell):
    """The base of a function whose bprop is written out; `apply` is its one instance."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.apply = cls()


def no_gradient(value):
    """What bprop gives for an input that gets no gradient."""
    return ops.zeros_like(value) if isinstance(value, Tensor) else 0
