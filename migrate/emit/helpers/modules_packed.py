"""Packed sequences: the rows of a padded batch that lie inside their sequence, time after time.

Compiled code has the padded batch and the lengths instead: the number of rows of a packed batch
depends on values.
"""

import mindspore
import numpy as np
from mindspore import Tensor, ops

from migrate.emit.helpers.modules_sequences import pad_sequence
from migrate.emit.helpers.train_inputs import _is_compiling, _same_again


class PackedSequence(tuple):
    """torch's PackedSequence: data, batch_sizes, sorted_indices, unsorted_indices."""

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None and sorted_indices is not None:
            unsorted_indices = mindspore.tensor(np.argsort(sorted_indices.asnumpy()))
        return super().__new__(cls, (data, batch_sizes, sorted_indices, unsorted_indices))

    def __getnewargs__(self):
        return tuple(self)

    data = property(lambda self: self[0])
    batch_sizes = property(lambda self: self[1])
    sorted_indices = property(lambda self: self[2])
    unsorted_indices = property(lambda self: self[3])
    is_cuda = False

    def _replace(self, **parts):
        names = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")
        return PackedSequence(**{**dict(zip(names, self, strict=True)), **parts})

    def astype(self, dtype):
        return PackedSequence(self[0].astype(dtype), *self[1:])

    def float(self):
        return self.astype(mindspore.float32)

    def half(self):
        return self.astype(mindspore.float16)

    def double(self):
        return self.astype(mindspore.float64)

    def long(self):
        return self.astype(mindspore.int64)

    def to(self, *args, **kwargs):
        dtypes = [part for part in (*args, *kwargs.values()) if isinstance(part, mindspore.Type)]
        return self.astype(dtypes[0]) if dtypes else self

    def cpu(self):
        return self

    def cuda(self, *args, **kwargs):
        return self

    def pin_memory(self):
        return self


def _length_array(lengths):
    """Lengths as an array, whatever they came as."""
    if isinstance(lengths, Tensor):
        return lengths.asnumpy().astype(np.int64)
    return np.array([int(length) for length in lengths], np.int64)


def _batch_sizes(lengths):
    """How many sequences are longer than each time step; lengths fall."""
    return (lengths[None, :] > np.arange(lengths.max())[:, None]).sum(1)


def _packed_order(packed):
    """The place in the batch of each sequence, longest first; and the lengths in that order."""
    sizes = _length_array(packed[1])
    lengths = (sizes[:, None] > np.arange(sizes[0])[None, :]).sum(0)
    order = np.arange(sizes[0]) if packed[2] is None else packed[2].asnumpy()
    return order, lengths


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """torch's pack_padded_sequence; in compiled code the padded batch, batch first, and lengths."""
    if _is_compiling(_same_again):
        if not isinstance(lengths, Tensor):
            lengths = mindspore.tensor(lengths)
        return (input if batch_first else input.swapaxes(0, 1)), lengths.astype(mindspore.int32)
    return _packed_rows(input, lengths, batch_first, enforce_sorted)


def _packed_rows(input, lengths, batch_first, enforce_sorted):
    lengths = _length_array(lengths)
    if len(lengths) == 0 or lengths.min() <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0")
    order = np.argsort(-lengths, kind="stable")
    if enforce_sorted and (lengths[:-1] < lengths[1:]).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You "
            "can pass `enforce_sorted=False` to pack_padded_sequence"
        )
    batch, time = (0, 1) if batch_first else (1, 0)
    if len(lengths) != input.shape[batch] or lengths.max() > input.shape[time]:
        raise RuntimeError(f"Expected lengths that fit the batch {input.shape}, got {lengths}")
    sizes = _batch_sizes(lengths[order])
    steps = np.repeat(np.arange(len(sizes)), sizes)
    rows = np.concatenate([order[:size] for size in sizes])
    padded = input if batch_first else input.swapaxes(0, 1)
    flat = padded.reshape((-1, *padded.shape[2:]))
    data = ops.gather(flat, mindspore.tensor(rows * padded.shape[1] + steps), 0)
    indices = None if enforce_sorted else mindspore.tensor(order)
    return PackedSequence(data, mindspore.tensor(sizes), indices)


def _padded_rows(packed, padding_value=0.0, total_length=None):
    """The padded batch, batch first and in the order of its callers, and its lengths."""
    order, lengths = _packed_order(packed)
    longest = int(lengths.max()) if total_length is None else total_length
    if longest < lengths.max():
        raise ValueError(f"Expected total_length to be at least {lengths.max()}, got {longest}")
    data = packed[0]
    places = np.full((len(lengths), longest), data.shape[0])
    starts = np.concatenate([[0], np.cumsum(_length_array(packed[1]))])
    for row, (sequence, length) in enumerate(zip(order, lengths, strict=True)):
        places[sequence, :length] = starts[:length] + row
    filling = ops.full((1, *data.shape[1:]), padding_value, dtype=data.dtype)
    padded = ops.gather(ops.cat((data, filling)), mindspore.tensor(places.reshape(-1)), 0)
    restored = np.empty_like(lengths)
    restored[order] = lengths
    return padded.reshape((*places.shape, *data.shape[1:])), restored


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """torch's pad_packed_sequence: as long as the longest sequence, or as asked for."""
    if isinstance(sequence, PackedSequence):
        padded, lengths = _padded_rows(sequence, padding_value, total_length)
        return (padded if batch_first else padded.swapaxes(0, 1)), mindspore.tensor(lengths)
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


def pack_sequence(sequences, enforce_sorted=True):
    """torch's pack_sequence."""
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """torch's unpack_sequence: the list of sequences."""
    padded, lengths = _padded_rows(packed_sequences)
    return [padded[row, : int(length)] for row, length in enumerate(lengths)]


def run_packed(layer, packed, hx=None):
    """A recurrent layer over a packed batch: it takes the padded batch and the lengths."""
    padded, lengths = _padded_rows(packed)
    steps = mindspore.tensor(lengths.astype(np.int32))
    (output, _), state = layer((padded, steps), hx)
    repacked = _packed_rows(output, lengths, True, False)
    return PackedSequence(repacked[0], *packed[1:]), state
