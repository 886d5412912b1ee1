"""Transformer layers with torch's constructors: biases may be left out, and start as torch's do."""

import mindspore
from mindspore import nn, ops


def _torch_biases(cell, bias):
    """The output projections' biases start at zero; without biases, all are zero and stay so."""
    for name, parameter in cell.parameters_and_names():
        gone = not bias and name.endswith(("bias", "beta"))
        if gone or name.endswith("out_proj.bias"):
            parameter.set_data(ops.zeros(parameter.shape, parameter.dtype))
            parameter.requires_grad = not gone


class TransformerEncoderLayer(nn.TransformerEncoderLayer):
    """nn.TransformerEncoderLayer with torch's arguments."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-05,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__(
            d_model,
            nhead,
            dim_feedforward=dim_feedforward,
            dropout=dropout,
            activation=activation,
            layer_norm_eps=layer_norm_eps,
            batch_first=batch_first,
            norm_first=norm_first,
            dtype=dtype or mindspore.float32,
        )
        _torch_biases(self, bias)


class TransformerDecoderLayer(nn.TransformerDecoderLayer):
    """nn.TransformerDecoderLayer with torch's arguments."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-05,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__(
            d_model,
            nhead,
            dim_feedforward=dim_feedforward,
            dropout=dropout,
            activation=activation,
            layer_norm_eps=layer_norm_eps,
            batch_first=batch_first,
            norm_first=norm_first,
            dtype=dtype or mindspore.float32,
        )
        _torch_biases(self, bias)


class Transformer(nn.Transformer):
    """nn.Transformer with torch's arguments."""

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-05,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__(
            d_model=d_model,
            nhead=nhead,
            num_encoder_layers=num_encoder_layers,
            num_decoder_layers=num_decoder_layers,
            dim_feedforward=dim_feedforward,
            dropout=dropout,
            activation=activation,
            custom_encoder=custom_encoder,
            custom_decoder=custom_decoder,
            layer_norm_eps=layer_norm_eps,
            batch_first=batch_first,
            norm_first=norm_first,
            dtype=dtype or mindspore.float32,
        )
        _torch_biases(self, bias)
