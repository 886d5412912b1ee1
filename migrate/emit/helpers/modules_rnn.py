"""Recurrent cells as torch calls them: the state may be left out, the batch too."""

import mindspore
from mindspore import nn, ops


def _exact_tanh(x):
    """MindSpore's CPU tanh is off by 1e-4 near saturation, where its gradient is small."""
    growth = ops.expm1(-2 * ops.clamp(x, -20, 20))
    return -growth / (growth + 2)


class RNNCell(nn.RNNCell):
    """nn.RNNCell with torch's arguments."""

    def __init__(
        self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None
    ):
        super().__init__(
            input_size,
            hidden_size,
            has_bias=bias,
            nonlinearity=nonlinearity,
            dtype=dtype or mindspore.float32,
        )

    def construct(self, input, hx=None):
        batched = input.ndim == 2
        x = input if batched else input.expand_dims(0)
        if hx is None:
            hx = ops.zeros((x.shape[0], self.hidden_size), x.dtype)
        elif not batched:
            hx = hx.expand_dims(0)
        gate = ops.matmul(x, self.weight_ih.T) + ops.matmul(hx, self.weight_hh.T)
        if self.has_bias:
            gate = gate + self.bias_ih + self.bias_hh
        h = ops.relu(gate) if self.nonlinearity == "relu" else _exact_tanh(gate)
        return h if batched else h.squeeze(0)


class GRUCell(nn.GRUCell):
    """nn.GRUCell with torch's arguments."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, has_bias=bias, dtype=dtype or mindspore.float32)

    def construct(self, input, hx=None):
        batched = input.ndim == 2
        x = input if batched else input.expand_dims(0)
        if hx is None:
            hx = ops.zeros((x.shape[0], self.hidden_size), x.dtype)
        elif not batched:
            hx = hx.expand_dims(0)
        h = super(GRUCell, self).construct(x, hx)
        return h if batched else h.squeeze(0)


class LSTMCell(nn.LSTMCell):
    """nn.LSTMCell with torch's arguments."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, has_bias=bias, dtype=dtype or mindspore.float32)

    def construct(self, input, hx=None):
        batched = input.ndim == 2
        x = input if batched else input.expand_dims(0)
        if hx is None:
            zeros = ops.zeros((x.shape[0], self.hidden_size), x.dtype)
            h, c = super(LSTMCell, self).construct(x, (zeros, zeros))
        elif batched:
            h, c = super(LSTMCell, self).construct(x, hx)
        else:
            h, c = super(LSTMCell, self).construct(x, (hx[0].expand_dims(0), hx[1].expand_dims(0)))
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))
