"""Attributes of layers: how each layer is built, and which of its attributes are read."""

from __future__ import annotations

_NORM = "bias eps momentum num_features running_mean running_var weight"
_CONV = "bias groups in_channels out_channels padding_mode transposed weight"
_RECURRENT = "batch_first bidirectional hidden_size num_layers"

_LAYERS: tuple[tuple[str, str, str], ...] = (
    ("AvgPool2d", "3, 2", "kernel_size stride"),
    ("BatchNorm1d", "5, eps=0.01, momentum=0.2", f"affine {_NORM}"),
    ("BatchNorm2d", "5, eps=0.01, momentum=0.2", f"affine {_NORM}"),
    ("BatchNorm3d", "5, eps=0.01, momentum=0.2", _NORM),
    ("Conv1d", "4, 6, 3, stride=2, padding=1, groups=2", _CONV),
    (
        "Conv2d",
        "4, 6, (3, 5), stride=(2, 1), padding=1, dilation=2, groups=2",
        f"{_CONV} dilation kernel_size padding stride",
    ),
    (
        "Conv3d",
        "4, 6, 3, stride=2, dilation=2, groups=2",
        f"{_CONV} dilation kernel_size stride",
    ),
    ("ConvTranspose1d", "4, 6, 3", "bias"),
    ("ConvTranspose2d", "4, 6, 3", "bias weight"),
    ("ConvTranspose3d", "4, 6, 3", "bias weight"),
    (
        "CrossEntropyLoss",
        "ignore_index=3, label_smoothing=0.1, reduction='sum'",
        "ignore_index label_smoothing reduction weight",
    ),
    ("Dropout", "0.3", "p"),
    ("Embedding", "10, 4, padding_idx=2", "embedding_dim num_embeddings padding_idx weight"),
    ("GRU", "4, 6, 2, batch_first=True", _RECURRENT),
    ("GroupNorm", "2, 6, eps=0.01", "affine bias eps num_channels num_groups weight"),
    ("LSTM", "4, 6, 2, batch_first=True", _RECURRENT),
    ("LayerNorm", "6, eps=0.01", "bias eps normalized_shape weight"),
    ("LeakyReLU", "0.3", "negative_slope"),
    ("Linear", "5, 7", "bias in_features out_features weight"),
    ("MaxPool2d", "3, 2", "kernel_size stride"),
    (
        "MultiheadAttention",
        "8, 2, dropout=0.1, batch_first=True",
        "batch_first dropout embed_dim head_dim in_proj_bias in_proj_weight num_heads",
    ),
    ("PReLU", "3", "weight"),
    ("RNN", "4, 6, 2, batch_first=True", _RECURRENT),
)

# torch name -> the expression that reads it
MEMBERS: dict[str, str] = {
    f"torch.nn.{layer}.{member}": f"torch.nn.{layer}({built}).{member}"
    for layer, built, members in _LAYERS
    for member in members.split()
}
