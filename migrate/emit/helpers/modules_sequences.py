"""torch.nn.utils: padded sequences and parameters as one vector."""

from mindspore import ops


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all tensors as if they were one vector."""
    tensors = [tensors] if hasattr(tensors, "shape") else list(tensors)
    if norm_type == float("inf"):
        total = ops.stack([ops.abs(tensor).max() for tensor in tensors]).max()
    else:
        powers = [ops.pow(ops.abs(tensor), norm_type).sum() for tensor in tensors]
        total = ops.pow(ops.stack(powers).sum(), 1 / norm_type)
    if error_if_nonfinite and not bool(ops.isfinite(total)):
        raise RuntimeError("the total norm of the gradients is not finite")
    return total


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Sequences of different lengths as one tensor."""
    longest = max(sequence.shape[0] for sequence in sequences)
    rows = []
    for sequence in sequences:
        gap = (longest - sequence.shape[0], *sequence.shape[1:])
        parts = [sequence]
        if gap[0] > 0:
            fill = ops.full(gap, padding_value, dtype=sequence.dtype)
            parts = [sequence, fill] if padding_side == "right" else [fill, sequence]
        rows.append(ops.cat(parts, 0) if len(parts) > 1 else sequence)
    return ops.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded tensor."""
    rows = padded_sequences if batch_first else padded_sequences.swapaxes(0, 1)
    return [rows[i][: int(length)] for i, length in enumerate(lengths)]


def vector_to_parameters(vec, parameters):
    """Copy the parts of a vector into the parameters; after a set_data, optimizers and compiled
    steps would go on with the old memory.
    """
    start = 0
    for parameter in parameters:
        part = vec[start : start + parameter.size].reshape(parameter.shape)
        ops.assign(parameter, part.astype(parameter.dtype))
        start += parameter.size
