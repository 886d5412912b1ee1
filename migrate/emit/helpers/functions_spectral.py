"""Short-time Fourier transforms, from frames and the plain transform, with gradients."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_constant_pad import constant_pad
from migrate.emit.helpers.tensor_shape import roll


def _full_window(window, win_length, n_fft, dtype):
    """The window in the middle of n_fft samples."""
    length = n_fft if win_length is None else win_length
    window = ops.ones((length,), dtype) if window is None else window
    before = (n_fft - length) // 2
    return constant_pad(window, (before, n_fft - length - before)) if length < n_fft else window


def _frame_places(frames, n_fft, hop):
    """The sample number of every element of every frame."""
    return ops.arange(frames).expand_dims(1) * hop + ops.arange(n_fft).expand_dims(0)


def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """torch's stft."""
    hop = n_fft // 4 if hop_length is None else hop_length
    signal = input.reshape((1, -1)) if input.ndim == 1 else input
    if center:
        signal = ops.pad(signal.expand_dims(1), (n_fft // 2, n_fft // 2), mode=pad_mode).squeeze(1)
    frames = 1 + (signal.shape[1] - n_fft) // hop
    pieces = ops.gather(signal, _frame_places(frames, n_fft, hop), 1)
    pieces = pieces * _full_window(window, win_length, n_fft, input.dtype)
    norm = "ortho" if normalized else "backward"
    if onesided is None or onesided:
        spectrum = ops.rfft(pieces, norm=norm)
    else:
        spectrum = ops.fft(pieces, norm=norm)
    spectrum = spectrum.swapaxes(1, 2)
    spectrum = spectrum.squeeze(0) if input.ndim == 1 else spectrum
    return spectrum if return_complex else ops.view_as_real(spectrum)


def istft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """torch's istft: frames added up where they overlap, divided by the windows' squares."""
    hop = n_fft // 4 if hop_length is None else hop_length
    spectrum = (input.expand_dims(0) if input.ndim == 2 else input).swapaxes(1, 2)
    norm = "ortho" if normalized else "backward"
    if onesided is None or onesided:
        pieces = ops.irfft(spectrum, n=n_fft, norm=norm)
    else:
        pieces = ops.real(ops.ifft(spectrum, norm=norm))
    weights = _full_window(window, win_length, n_fft, pieces.dtype)
    batch, frames, _ = pieces.shape
    total = n_fft + hop * (frames - 1)
    places = _frame_places(frames, n_fft, hop).reshape((-1,)).astype(mindspore.int32)
    rows = (pieces * weights).reshape((batch, -1)).swapaxes(0, 1)
    signal = ops.unsorted_segment_sum(rows, places, total).swapaxes(0, 1)
    squares = (weights * weights).broadcast_to((frames, n_fft)).reshape((-1,))
    envelope = ops.unsorted_segment_sum(squares, places, total)
    first = n_fft // 2 if center else 0
    last = first + length if length is not None else total - first
    signal, envelope = signal[:, first:last], envelope[first:last]
    signal = signal / ops.where(envelope > 1e-11, envelope, ops.ones_like(envelope))
    if length is not None and signal.shape[1] < length:
        signal = constant_pad(signal, (0, length - signal.shape[1]))
    return signal.squeeze(0) if input.ndim == 2 else signal


def _fft_dims(s, dim):
    """Sizes without dimensions are those of the last ones."""
    return tuple(range(-len(s), 0)) if dim is None and s is not None else dim


def irfftn(input, s=None, dim=None, norm=None):
    """torch's irfftn; MindSpore's gradient ends the process where s comes without dim."""
    return ops.irfftn(input, s, _fft_dims(s, dim), norm)


def hfftn(input, s=None, dim=None, norm=None):
    """torch's hfftn; MindSpore's gradient ends the process where s comes without dim."""
    return ops.hfftn(input, s, _fft_dims(s, dim), norm)


def _shift_halves(input, dim, more):
    """Roll every axis by half of its size, rounded down (or up with more)."""
    dims = tuple(range(input.ndim)) if dim is None else dim
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    return roll(input, tuple([(input.shape[axis] + more) // 2 for axis in dims]), dims)


def fftshift(input, dim=None):
    """torch.fft.fftshift; ops.fftshift runs on an Ascend's AI CPU."""
    return _shift_halves(input, dim, 0)


def ifftshift(input, dim=None):
    """torch.fft.ifftshift; ops.ifftshift runs on an Ascend's AI CPU."""
    return _shift_halves(input, dim, 1)
