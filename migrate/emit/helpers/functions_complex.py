"""torch's conj and real for tensors that may not be complex: those have no kernel on an Ascend."""

import mindspore
from mindspore import ops

_COMPLEX = (mindspore.complex64, mindspore.complex128)


def conj(input):
    """torch's conj: of a real tensor, the tensor itself."""
    return ops.conj(input) if input.dtype in _COMPLEX else input


def real(input):
    """torch's real: of a real tensor, the tensor itself."""
    return ops.real(input) if input.dtype in _COMPLEX else input


def magnitude(input):
    """torch's abs: real for complex numbers."""
    return ops.real(ops.abs(input)) if input.dtype in _COMPLEX else ops.abs(input)
