"""Packed sequences: the padded batch, batch first, and the lengths, which MindSpore's recurrent
layers take beside each other.
"""

import mindspore
from mindspore import Tensor, ops


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """torch's pack_padded_sequence: a pair that recurrent layers know. Nothing needs sorting."""
    if not isinstance(lengths, Tensor):
        lengths = mindspore.tensor(lengths)
    return (input if batch_first else input.swapaxes(0, 1)), lengths.astype(mindspore.int32)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """torch's pad_packed_sequence: as long as the longest sequence, or as asked for."""
    padded, lengths = sequence
    longest = int(lengths.max()) if total_length is None else total_length
    padded = padded[:, :longest]
    if total_length is not None and padded.shape[1] < total_length:
        gap = (padded.shape[0], total_length - padded.shape[1], *padded.shape[2:])
        padded = ops.cat((padded, ops.zeros(gap, padded.dtype)), axis=1)
    if padding_value != 0.0:
        inside = ops.arange(padded.shape[1]).expand_dims(0) < lengths.expand_dims(1)
        inside = inside.reshape(inside.shape + (1,) * (padded.ndim - 2))
        padded = ops.where(inside, padded, ops.full_like(padded, padding_value))
    return (padded if batch_first else padded.swapaxes(0, 1)), lengths.astype(mindspore.int64)
