"""Layers that torch's module database leaves out or calls in one way only: how they are built, and
the shapes of their inputs (a text is an integer input: "classes: shape").
"""

from __future__ import annotations

Sample = tuple[str, tuple[tuple[int, ...] | str, ...]]

LAYERS: dict[str, tuple[Sample, ...]] = {
    "torch.nn.AdaptiveLogSoftmaxWithLoss": (
        ("torch.nn.AdaptiveLogSoftmaxWithLoss(20, 12, [3, 7])", ((5, 20), "12: 5")),
        (
            "torch.nn.AdaptiveLogSoftmaxWithLoss(6, 12, [5], div_value=2.0, head_bias=True)",
            ((5, 6), "12: 5"),
        ),
    ),
    "torch.nn.AlphaDropout": (("torch.nn.AlphaDropout(0.0)", ((3, 5),)),),
    "torch.nn.ChannelShuffle": (("torch.nn.ChannelShuffle(2)", ((2, 6, 3, 5),)),),
    "torch.nn.CosineSimilarity": (
        ("torch.nn.CosineSimilarity()", ((4, 5), (4, 5))),
        ("torch.nn.CosineSimilarity(dim=0, eps=1e-6)", ((4, 5), (4, 5))),
    ),
    "torch.nn.Conv1d": (
        ("torch.nn.Conv1d(4, 6, 3, padding=1, bias=False)", ((2, 4, 9),)),
        ("torch.nn.Conv1d(4, 6, 3, 2, 2, dilation=2, groups=2)", ((2, 4, 12),)),
    ),
    "torch.nn.Conv2d": (
        ("torch.nn.Conv2d(4, 6, (3, 5), stride=(2, 1), padding=(1, 2))", ((2, 4, 9, 8),)),
        ("torch.nn.Conv2d(4, 6, 3, padding='same', dilation=2)", ((2, 4, 9, 8),)),
        ("torch.nn.Conv2d(4, 4, 3, groups=4, bias=False)", ((2, 4, 9, 8),)),
        ("torch.nn.Conv2d(4, 6, 3, padding=1, padding_mode='reflect')", ((2, 4, 9, 8),)),
    ),
    "torch.nn.ConvTranspose2d": (
        ("torch.nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1)", ((2, 4, 5, 6),)),
        ("torch.nn.ConvTranspose2d(4, 6, 4, 2, 1, bias=False)", ((2, 4, 5, 6),)),
        ("torch.nn.ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1)", ((2, 4, 5, 6),)),
    ),
    "torch.nn.Dropout": (
        ("torch.nn.Dropout(0.0)", ((3, 5),)),
        ("torch.nn.Dropout(p=0.4)", ((60, 50),)),
    ),
    "torch.nn.Dropout1d": (
        ("torch.nn.Dropout1d(0.0)", ((2, 3, 4),)),
        ("torch.nn.Dropout1d()", ((2, 3, 4),)),
    ),
    "torch.nn.Dropout2d": (("torch.nn.Dropout2d(0.0)", ((2, 3, 4, 5),)),),
    "torch.nn.Dropout3d": (
        ("torch.nn.Dropout3d(0.0)", ((2, 3, 4, 5, 2),)),
        ("torch.nn.Dropout3d(p=0.3)", ((2, 3, 4, 5, 2),)),
    ),
    "torch.nn.Embedding": (
        ("torch.nn.Embedding(10, 4)", ("10: 3 5",)),
        ("torch.nn.Embedding(10, 4, padding_idx=2)", ("10: 3 5",)),
    ),
    "torch.nn.EmbeddingBag": (
        ("torch.nn.EmbeddingBag(10, 4)", ("10: 3 5",)),
        ("torch.nn.EmbeddingBag(10, 4, mode='sum')", ("10: 3 5",)),
        ("torch.nn.EmbeddingBag(10, 4, mode='max')", ("10: 3 5",)),
    ),
    "torch.nn.FeatureAlphaDropout": (("torch.nn.FeatureAlphaDropout(0.0)", ((2, 3, 4, 5),)),),
    "torch.nn.Flatten": (
        ("torch.nn.Flatten()", ((2, 3, 4),)),
        ("torch.nn.Flatten(0, 1)", ((2, 3, 4),)),
        ("torch.nn.Flatten(start_dim=-2)", ((2, 3, 4),)),
    ),
    "torch.nn.Fold": (("torch.nn.Fold((4, 5), (2, 2))", ((2, 12, 12),)),),
    "torch.nn.GRU": (
        ("torch.nn.GRU(5, 7)", ((4, 3, 5),)),
        ("torch.nn.GRU(5, 7, 2, batch_first=True, bidirectional=True)", ((3, 4, 5),)),
        ("torch.nn.GRU(5, 7, bias=False)", ((4, 3, 5), (1, 3, 7))),
    ),
    "torch.nn.Hardsigmoid": (("torch.nn.Hardsigmoid()", ((3, 5),)),),
    "torch.nn.Identity": (("torch.nn.Identity()", ((3, 5),)),),
    "torch.nn.LSTM": (
        ("torch.nn.LSTM(5, 7)", ((4, 3, 5),)),
        ("torch.nn.LSTM(5, 7, 2, batch_first=True, bidirectional=True)", ((3, 4, 5),)),
        ("torch.nn.LSTM(5, 7, bias=False)", ((4, 3, 5),)),
    ),
    "torch.nn.Linear": (
        ("torch.nn.Linear(5, 7)", ((4, 3, 5),)),
        ("torch.nn.Linear(5, 7, bias=False)", ((3, 5),)),
    ),
    "torch.nn.ModuleList": (
        ("torch.nn.ModuleList([torch.nn.Linear(5, 5), torch.nn.ReLU()])[0]", ((3, 5),)),
    ),
    "torch.nn.PairwiseDistance": (
        ("torch.nn.PairwiseDistance()", ((4, 5), (4, 5))),
        ("torch.nn.PairwiseDistance(p=1.0, keepdim=True)", ((4, 5), (4, 5))),
    ),
    "torch.nn.PixelShuffle": (("torch.nn.PixelShuffle(2)", ((2, 8, 3, 5),)),),
    "torch.nn.PixelUnshuffle": (("torch.nn.PixelUnshuffle(2)", ((2, 3, 4, 6),)),),
    "torch.nn.RReLU": (("torch.nn.RReLU(0.2, 0.2)", ((3, 5),)),),
    "torch.nn.RNN": (
        ("torch.nn.RNN(5, 7)", ((4, 3, 5),)),
        ("torch.nn.RNN(5, 7, nonlinearity='relu', batch_first=True)", ((3, 4, 5),)),
        ("torch.nn.RNN(5, 7, 2, bidirectional=True)", ((4, 3, 5),)),
    ),
    "torch.nn.Sequential": (
        ("torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh())", ((3, 5),)),
    ),
    "torch.nn.TransformerDecoder": (
        (
            "torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(4, 2, 8, 0.0), 2)",
            ((5, 3, 4), (6, 3, 4)),
        ),
        (
            "torch.nn.TransformerDecoder("
            "torch.nn.TransformerDecoderLayer(4, 2, 8, 0.0, bias=False, batch_first=True), 1, "
            "norm=torch.nn.LayerNorm(4))",
            ((3, 5, 4), (3, 6, 4)),
        ),
    ),
    "torch.nn.TransformerEncoder": (
        (
            "torch.nn.TransformerEncoder("
            "torch.nn.TransformerEncoderLayer(4, 2, 8, 0.0), 2, torch.nn.LayerNorm(4))",
            ((5, 3, 4),),
        ),
    ),
    "torch.nn.TripletMarginLoss": (
        ("torch.nn.TripletMarginLoss()", ((4, 5), (4, 5), (4, 5))),
        (
            "torch.nn.TripletMarginLoss(margin=0.5, swap=True, reduction='sum')",
            ((4, 5), (4, 5), (4, 5)),
        ),
    ),
    "torch.nn.TripletMarginWithDistanceLoss": (
        ("torch.nn.TripletMarginWithDistanceLoss()", ((4, 5), (4, 5), (4, 5))),
        (
            "torch.nn.TripletMarginWithDistanceLoss("
            "distance_function=torch.nn.CosineSimilarity(), margin=0.5, swap=True)",
            ((4, 5), (4, 5), (4, 5)),
        ),
    ),
    "torch.nn.Unflatten": (("torch.nn.Unflatten(1, (2, 3))", ((4, 6, 2),)),),
    "torch.nn.Unfold": (
        ("torch.nn.Unfold((2, 3))", ((2, 3, 5, 6),)),
        ("torch.nn.Unfold(3, padding=1, stride=2)", ((2, 3, 6, 6),)),
    ),
    "torch.nn.Upsample": (
        ("torch.nn.Upsample(scale_factor=2)", ((2, 3, 4, 5),)),
        (
            "torch.nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)",
            ((2, 3, 4, 5),),
        ),
        ("torch.nn.Upsample(size=(7, 9), mode='bilinear')", ((2, 3, 4, 5),)),
    ),
    "torch.nn.UpsamplingBilinear2d": (
        ("torch.nn.UpsamplingBilinear2d(scale_factor=2)", ((2, 3, 4, 5),)),
    ),
    "torch.nn.UpsamplingNearest2d": (
        ("torch.nn.UpsamplingNearest2d(size=(8, 10))", ((2, 3, 4, 5),)),
    ),
}
