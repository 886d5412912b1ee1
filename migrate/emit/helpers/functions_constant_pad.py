"""Constant padding whose gradient may be taken again and again in a compiled step.

The kernel behind the gradient of ops.pad changes its own widths: from the second call of a graph
on, the gradient is shifted or zero, and the process crashes after a few more (CPU, 2.10). The
primitive ops.Pad has the widths as attributes; it pads with zeros alone.
"""

import mindspore
from mindspore import ops


def constant_pad(input, pad, value=0):
    """Pad with one value; the widths come in pairs, from the last axis on, none below zero."""
    widths = ()
    for place in range(input.ndim):
        given = 2 * place < len(pad)
        widths = ((pad[2 * place], pad[2 * place + 1]) if given else (0, 0), *widths)
    padded = ops.Pad(widths)(input)
    if value is None or value == 0:
        return padded
    inside = ops.Pad(widths)(ops.ones(input.shape, mindspore.int32)) > 0
    return ops.where(inside, padded, ops.full((), value, dtype=padded.dtype))
