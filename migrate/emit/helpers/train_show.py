"""Tensors in text: what a training program prints of its losses and meters."""

from mindspore import Tensor


def _formatted(self, spec):
    if self.ndim == 0:
        return format(self.item(), spec)
    return object.__format__(self, spec)


# f"{loss:.3f}": torch's tensor of one value takes a number's format, MindSpore's takes none.
formatted_tensors = Tensor.__format__ = _formatted

# np.float64(0.9) * tensor: numpy's numbers leave the operation to torch's tensors, and would make
# an array of MindSpore's.
tensors_before_numpy = Tensor.__array_priority__ = 1000
