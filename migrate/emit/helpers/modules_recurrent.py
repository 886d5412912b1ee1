"""Recurrent layers as torch calls them: with or without a batch, with or without projections."""

import math

import mindspore
from mindspore import Parameter, ParameterTuple, nn, ops
from mindspore.common.initializer import Uniform, initializer

from migrate.emit.helpers.modules_packed import PackedSequence, run_packed


class RNN(nn.RNN):
    """nn.RNN with torch's arguments; one sequence alone is taken too."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        nonlinearity="tanh",
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
    ):
        super().__init__(
            input_size,
            hidden_size,
            num_layers=num_layers,
            nonlinearity=nonlinearity,
            has_bias=bias,
            batch_first=batch_first,
            dropout=float(dropout),
            bidirectional=bidirectional,
            dtype=dtype or mindspore.float32,
        )

    def __call__(self, input, *args, **kwargs):
        if isinstance(input, PackedSequence):
            return run_packed(super().__call__, input, *args, **kwargs)
        return super().__call__(input, *args, **kwargs)

    def construct(self, input, hx=None, seq_length=None):
        if isinstance(input, tuple):  # the padded batch of a packed sequence, and the lengths
            padded, lengths = input
            padded = padded if self.batch_first else padded.swapaxes(0, 1)
            output, state = super().construct(padded, hx, lengths)
            return ((output if self.batch_first else output.swapaxes(0, 1)), lengths), state
        if input.ndim == 3:
            return super().construct(input, hx, seq_length)
        hx = None if hx is None else hx.expand_dims(1)
        axis = 0 if self.batch_first else 1
        output, state = super().construct(input.expand_dims(axis), hx)
        return output.squeeze(axis), state.squeeze(1)


class GRU(nn.GRU):
    """nn.GRU with torch's arguments; one sequence alone is taken too."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
    ):
        super().__init__(
            input_size,
            hidden_size,
            num_layers=num_layers,
            has_bias=bias,
            batch_first=batch_first,
            dropout=float(dropout),
            bidirectional=bidirectional,
            dtype=dtype or mindspore.float32,
        )

    def __call__(self, input, *args, **kwargs):
        if isinstance(input, PackedSequence):
            return run_packed(super().__call__, input, *args, **kwargs)
        return super().__call__(input, *args, **kwargs)

    def construct(self, input, hx=None, seq_length=None):
        if isinstance(input, tuple):  # the padded batch of a packed sequence, and the lengths
            padded, lengths = input
            padded = padded if self.batch_first else padded.swapaxes(0, 1)
            output, state = super().construct(padded, hx, lengths)
            return ((output if self.batch_first else output.swapaxes(0, 1)), lengths), state
        if input.ndim == 3:
            return super().construct(input, hx, seq_length)
        hx = None if hx is None else hx.expand_dims(1)
        axis = 0 if self.batch_first else 1
        output, state = super().construct(input.expand_dims(axis), hx)
        return output.squeeze(axis), state.squeeze(1)


class LSTM(nn.LSTM):
    """nn.LSTM with torch's arguments; one sequence alone is taken too."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
    ):
        super().__init__(
            input_size,
            hidden_size,
            num_layers=num_layers,
            has_bias=bias,
            batch_first=batch_first,
            dropout=float(dropout),
            bidirectional=bidirectional,
            dtype=dtype or mindspore.float32,
        )

    def __call__(self, input, *args, **kwargs):
        if isinstance(input, PackedSequence):
            return run_packed(super().__call__, input, *args, **kwargs)
        return super().__call__(input, *args, **kwargs)

    def construct(self, input, hx=None, seq_length=None):
        hx = None if hx is None else (hx[0], hx[1])  # a list of two is taken too
        if isinstance(input, tuple):  # the padded batch of a packed sequence, and the lengths
            padded, lengths = input
            padded = padded if self.batch_first else padded.swapaxes(0, 1)
            output, state = super().construct(padded, hx, lengths)
            return ((output if self.batch_first else output.swapaxes(0, 1)), lengths), state
        if input.ndim == 3:
            return super().construct(input, hx, seq_length)
        hx = None if hx is None else (hx[0].expand_dims(1), hx[1].expand_dims(1))
        axis = 0 if self.batch_first else 1
        output, (hidden, cell) = super().construct(input.expand_dims(axis), hx)
        return output.squeeze(axis), (hidden.squeeze(1), cell.squeeze(1))


class ProjectedLSTM(nn.Cell):
    """An LSTM whose output is projected to proj_size numbers, step by step."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.hidden_size, self.proj_size = hidden_size, proj_size
        self.num_layers, self.directions = num_layers, 2 if bidirectional else 1
        self.batch_first, self.bidirectional, self.has_bias = batch_first, bidirectional, bias
        self.dropout = nn.Dropout(p=float(dropout))
        self.drops = dropout > 0
        width, wide = proj_size or hidden_size, 4 * hidden_size
        self.width = width
        made = {"weight_ih": [], "weight_hh": [], "bias_ih": [], "bias_hh": [], "weight_hr": []}
        for layer in range(num_layers):
            shapes = {
                "weight_ih": (wide, input_size if layer == 0 else width * self.directions),
                "weight_hh": (wide, width),
            }
            if bias:
                shapes.update(bias_ih=(wide,), bias_hh=(wide,))
            if proj_size:
                shapes["weight_hr"] = (proj_size, hidden_size)
            for direction in range(self.directions):
                ending = f"_l{layer}" + ("_reverse" if direction else "")
                for kind, shape in shapes.items():
                    start = initializer(
                        Uniform(1 / math.sqrt(hidden_size)), shape, dtype or mindspore.float32
                    )
                    made[kind].append(Parameter(start, name=kind + ending))
        self.weight_ih, self.weight_hh = (
            ParameterTuple(made["weight_ih"]),
            ParameterTuple(made["weight_hh"]),
        )
        self.bias_ih, self.bias_hh = (
            ParameterTuple(made["bias_ih"]),
            ParameterTuple(made["bias_hh"]),
        )
        self.weight_hr = ParameterTuple(made["weight_hr"])

    def _one_way(self, x, hidden, cell, place):
        """One direction of one layer; x starts with the time."""
        gates = ops.matmul(x, self.weight_ih[place].T)
        if self.has_bias:
            gates = gates + self.bias_ih[place] + self.bias_hh[place]
        outputs = []
        for step in range(x.shape[0]):
            gate = gates[step] + ops.matmul(hidden, self.weight_hh[place].T)
            keep, forget, new, show = ops.chunk(gate, 4, axis=-1)
            cell = ops.sigmoid(forget) * cell + ops.sigmoid(keep) * ops.tanh(new)
            hidden = ops.sigmoid(show) * ops.tanh(cell)
            if self.proj_size:
                hidden = ops.matmul(hidden, self.weight_hr[place].T)
            outputs.append(hidden)
        return outputs, hidden, cell

    def construct(self, input, hx=None):
        batched = input.ndim == 3
        x = input if batched else input.expand_dims(0 if self.batch_first else 1)
        x = x.swapaxes(0, 1) if self.batch_first else x
        if hx is None:
            count = self.num_layers * self.directions
            first = ops.zeros((count, x.shape[1], self.width), x.dtype)
            second = ops.zeros((count, x.shape[1], self.hidden_size), x.dtype)
        elif batched:
            first, second = hx
        else:
            first, second = hx[0].expand_dims(1), hx[1].expand_dims(1)
        hiddens, cells = [], []
        for layer in range(self.num_layers):
            ways = []
            for direction in range(self.directions):
                place = layer * self.directions + direction
                given = ops.flip(x, (0,)) if direction == 1 else x
                outputs, hidden, cell = self._one_way(given, first[place], second[place], place)
                stacked = ops.stack(outputs)
                ways.append(ops.flip(stacked, (0,)) if direction == 1 else stacked)
                hiddens.append(hidden)
                cells.append(cell)
            x = ops.cat(ways, axis=-1) if self.bidirectional else ways[0]
            if self.drops and layer < self.num_layers - 1:
                x = self.dropout(x)
        hidden, cell = ops.stack(hiddens), ops.stack(cells)
        x = x.swapaxes(0, 1) if self.batch_first else x
        if batched:
            return x, (hidden, cell)
        return x.squeeze(0 if self.batch_first else 1), (hidden.squeeze(1), cell.squeeze(1))
