"""Calls for official pairs that torch's operator database has no samples of.

Each pair of expressions is the same call in both frameworks, as a plain renaming writes it. `x`,
`y` are (4, 5) draws, `p`, `q` lie between 0 and 1, `image` is (2, 3, 8, 9), `volume` has one more
axis, `picture` is a PIL image, `wave` a signal; on MindSpore's side they are Tensors, and the same
as numpy arrays under `arrays`.
"""

from __future__ import annotations


def same(*names: str, arguments: str = "()", call: str = "") -> dict[str, tuple[str, str]]:
    """Classes of one name in torch.nn and mindspore.nn, made and called alike."""
    return {
        f"torch.nn.{n} mindspore.nn.{n}": (
            f"T.nn.{n}{arguments}{call}",
            f"M.nn.{n}{arguments}{call}",
        )
        for n in names
    }


LAYERS = {
    **same("AdaptiveMaxPool3d", arguments="(2)", call="(volume)"),
    **same("BCELoss", "KLDivLoss", call="(p, q)"),
    **same("BCEWithLogitsLoss", call="(x, q)"),
    **same("CTCLoss", call="(logs, labels, lengths, short)"),
    **same("InstanceNorm1d", arguments="(3)", call="(image[:, :, 0])"),
    **same("InstanceNorm2d", arguments="(3)", call="(image)"),
    **same("InstanceNorm3d", arguments="(3)", call="(volume)"),
    **same("LPPool1d", arguments="(3, 2)", call="(image[:, :, 0])"),
    **same("LPPool2d", arguments="(3, 2)", call="(image)"),
    **same("MarginRankingLoss", call="(x, y, signs)"),
    **same("MultiLabelMarginLoss", call="(x, several)"),
    **same("RReLU", arguments="(0.2, 0.2)", call="(image)"),
    **same("SoftMarginLoss", call="(x, signs)"),
    **same("TripletMarginLoss", call="(x, y, x * y)"),
    **same("Unfold", arguments="(2)", call="(image)"),
    **same("Upsample", arguments="(scale_factor=2)", call="(image)"),
    "torch.nn.ModuleDict mindspore.nn.CellDict": (
        "[*T.nn.ModuleDict({'b': T.nn.ReLU(), 'a': T.nn.Linear(1, 2)}).state_dict()]",
        "[*M.nn.CellDict({'b': M.nn.ReLU(), 'a': M.nn.Dense(1, 2)}).parameters_dict()]",
    ),
    "torch.nn.TransformerDecoder mindspore.nn.TransformerDecoder": (
        "T.nn.TransformerDecoder(T.nn.TransformerDecoderLayer(4, 2), 2)(columns[:, :, :4],"
        " columns[:, :, :4], tgt_is_causal=False).shape",
        "M.nn.TransformerDecoder(M.nn.TransformerDecoderLayer(4, 2), 2)(columns[:, :, :4],"
        " columns[:, :, :4], tgt_is_causal=False).shape",
    ),
    "torch.nn.TransformerEncoder mindspore.nn.TransformerEncoder": (
        "T.nn.TransformerEncoder(T.nn.TransformerEncoderLayer(4, 2), 2, None, False)"
        "(columns[:, :, :4]).shape",
        "M.nn.TransformerEncoder(M.nn.TransformerEncoderLayer(4, 2), 2, None, False)"
        "(columns[:, :, :4]).shape",
    ),
    "torch.nn.CeLU mindspore.nn.CELU": ("T.nn.CeLU()(x)", "M.nn.CELU()(x)"),
    "torch.nn.Flatten mindspore.mint.flatten": ("T.nn.Flatten()(image)", "M.mint.flatten(image)"),
    "torch.nn.Hardsigmoid mindspore.nn.Hsigmoid": ("T.nn.Hardsigmoid()(x)", "M.nn.Hsigmoid()(x)"),
    "torch.nn.Hardswish mindspore.nn.Hswish": ("T.nn.Hardswish()(x)", "M.nn.Hswish()(x)"),
    "torch.nn.LocalResponseNorm mindspore.nn.LRN": (
        "T.nn.LocalResponseNorm(2)(image)",
        "M.nn.LRN(2)(image)",
    ),
    "torch.nn.LogSoftMax mindspore.mint.nn.LogSoftmax": (
        "T.nn.LogSoftMax(1)(x)",
        "M.mint.nn.LogSoftmax(1)(x)",
    ),
    "torch.nn.LogSoftMax mindspore.nn.LogSoftMax": (
        "T.nn.LogSoftMax(1)(x)",
        "M.nn.LogSoftMax(1)(x)",
    ),
    "torch.nn.SeLU mindspore.mint.nn.SELU": ("T.nn.SeLU()(x)", "M.mint.nn.SELU()(x)"),
    "torch.nn.SeLU mindspore.nn.SeLU": ("T.nn.SeLU()(x)", "M.nn.SeLU()(x)"),
}

FUNCTIONS = {
    f"torch.{name} mindspore.ops.{name}": (f"T.{name}({a})", f"M.ops.{name}({a})")
    for name, a in (
        ("bartlett_window", "7"),
        ("blackman_window", "7"),
        ("hamming_window", "7"),
        ("hann_window", "7"),
        ("is_nonzero", "x[0, :1]"),
        ("kaiser_window", "7"),
        ("numel", "x"),
        ("range", "1, 4"),
    )
}
FUNCTIONS |= {
    f"torch.nn.functional.{name} mindspore.ops.{name}": (f"F.{name}({a})", f"M.ops.{name}({a})")
    for name, a in (
        ("dropout2d", "image, 0.5, False"),
        ("dropout3d", "volume, 0.5, False"),
        ("fold", "columns, (4, 5), 2"),
        ("lp_pool1d", "image[:, :, 0], 3, 2"),
        ("lp_pool2d", "image, 3, 2"),
        ("upsample", "image, None, 2"),
    )
}
FUNCTIONS |= {
    f"torch.Tensor.{name} mindspore.Tensor.{other}": (f"x.{name}{a}", f"x.{other}{b}")
    for name, other, a, b in (
        ("dim", "ndimension", "()", "()"),
        ("fill_diagonal_", "fill_diagonal", "(1.0)", "(1.0)"),
        ("log_normal", "log_normal", "()", "()"),
        ("ndimension", "ndimension", "()", "()"),
        ("nelement", "nelement", "()", "()"),
        ("numel", "numel", "()", "()"),
        ("size", "shape", "()", ""),
        ("cauchy_", "cauchy", "(0, 1).shape", "(0, 1).shape"),
        ("to", "to", "(T.float64)", "(M.float64)"),
    )
}
FUNCTIONS |= {
    "torch.Tensor.imag mindspore.Tensor.imag": (
        "T.complex(x, y).imag",
        "M.ops.Complex()(x, y).imag",
    ),
    "torch.Tensor.real mindspore.Tensor.real": (
        "T.complex(x, y).real",
        "M.ops.Complex()(x, y).real",
    ),
    "torch.bernoulli mindspore.ops.bernoulli": (
        "T.bernoulli(p * 0 + 1)",
        "M.ops.bernoulli(p * 0 + 1)",
    ),
    "torch.einsum mindspore.ops.einsum": (
        "T.einsum('ij,kj->ik', x, y)",
        "M.ops.einsum('ij,kj->ik', x, y)",
    ),
    "torch.logspace mindspore.ops.logspace": ("T.logspace(0, 2, 5)", "M.ops.logspace(0, 2, 5)"),
    "torch.nn.functional.gumbel_softmax mindspore.ops.gumbel_softmax": (
        "F.gumbel_softmax(x, hard=True, dim=0).sum(0)",
        "M.ops.gumbel_softmax(x, hard=True, dim=0).sum(0)",
    ),
    "torch.randperm mindspore.ops.randperm": (
        "T.randperm(8).sort()[0]",
        "M.ops.randperm(8).sort()[0]",
    ),
    "torch.Generator mindspore.Generator": (
        "T.rand(3, generator=T.Generator()).shape",
        "M.ops.rand(3, generator=M.Generator()).shape",
    ),
    "torch.Tensor.slogdet mindspore.Tensor.slogdet": (
        "x[:4, :4].slogdet()",
        "x[:4, :4].slogdet()",
    ),
    "torch.distributions.laplace.Laplace mindspore.ops.standard_laplace": (
        "T.distributions.laplace.Laplace(0.0, 1.0).sample((3,)).shape",
        "M.ops.standard_laplace(0.0, 1.0).sample((3,)).shape",
    ),
    "torch.initial_seed mindspore.initial_seed": (
        "(T.manual_seed(7), T.initial_seed())[1]",
        "(M.set_seed(7), M.initial_seed())[1]",
    ),
    "torch.manual_seed mindspore.manual_seed": (
        "[(T.manual_seed(7), T.rand(3).tolist())[1] for _ in range(2)].count(None)",
        "len({str((M.manual_seed(7), M.ops.rand(3))[1]) for _ in range(2)}) - 1",
    ),
    "torch.nn.init.uniform_ mindspore.ops.uniform": (
        "T.nn.init.uniform_(x, 0.0, 1.0).shape",
        "M.ops.uniform(x, 0.0, 1.0).shape",
    ),
    "torch.nn.utils.clip_grad_norm_ mindspore.ops.clip_by_norm": (
        "clipped(T.nn.utils.clip_grad_norm_, x, y, 1.0)",
        "M.ops.clip_by_norm([x, y], 1.0)",
    ),
    "torch.nn.utils.clip_grad_value_ mindspore.ops.clip_by_value": (
        "clipped(T.nn.utils.clip_grad_value_, x, y, 0.5)",
        "M.ops.clip_by_value([x, y], 0.5)",
    ),
    "torch.poisson mindspore.ops.random_poisson": (
        "T.poisson(p).shape",
        "M.ops.random_poisson(p).shape",
    ),
    "torch.utils.checkpoint.checkpoint mindspore.nn.Cell.recompute": (
        "T.utils.checkpoint.checkpoint(F.relu, x, use_reentrant=False)",
        "M.nn.Cell.recompute(M.ops.relu, x)",
    ),
    "torchvision.ops.deform_conv2d mindspore.ops.deformable_conv2d": (
        "V.ops.deform_conv2d(image, T.ones(4, 3, 1, 1), T.zeros(2, 2, 8, 9))",
        "M.ops.deformable_conv2d(image, M.ops.ones((4, 3, 1, 1)), M.ops.zeros((2, 2, 8, 9)))",
    ),
    "torchvision.ops.nms mindspore.ops.NMSWithMask": (
        "V.ops.nms(boxes, scores, 0.5)",
        "M.ops.NMSWithMask()(boxes, scores, 0.5)",
    ),
    "torchvision.ops.roi_align mindspore.ops.ROIAlign": (
        "V.ops.roi_align(image, rois, 2)",
        "M.ops.ROIAlign(2, 2, 1.0, 2)(image, rois)",
    ),
}

_STEPS = "steps({}, x)"
OPTIMIZERS = {
    f"torch.optim.{name} {target}": (
        _STEPS.format(f"lambda ps: T.optim.{name}(ps, lr=0.1)"),
        _STEPS.format(f"lambda ps: {target.replace('mindspore', 'M', 1)}(ps, lr=0.1)"),
    )
    for name, target in (
        ("ASGD", "mindspore.nn.ASGD"),
        ("AdaMax", "mindspore.nn.AdaMax"),
        ("Adadelta", "mindspore.nn.Adadelta"),
        ("Adagrad", "mindspore.nn.Adagrad"),
        ("Adam", "mindspore.nn.Adam"),
        ("AdamW", "mindspore.nn.AdamWeightDecay"),
        ("Optimizer", "mindspore.nn.Optimizer"),
        ("RMSProp", "mindspore.nn.RMSProp"),
        ("Rprop", "mindspore.nn.Rprop"),
        ("SGD", "mindspore.nn.SGD"),
        ("SparseAdam", "mindspore.nn.LazyAdam"),
    )
}
OPTIMIZERS |= {
    "torch.optim.Adam mindspore.experimental.optim.Adam": (
        _STEPS.format("lambda ps: T.optim.Adam(ps, lr=0.1, eps=0.01)"),
        _STEPS.format("lambda ps: M.experimental.optim.Adam(ps, lr=0.1, eps=0.01)"),
    ),
}
OPTIMIZERS |= {
    f"torch.optim.lr_scheduler.{name} mindspore.nn.{target}": (
        f"rates(T.optim.lr_scheduler.{name}, {a})",
        f"M.nn.{target}(M.experimental.optim.SGD(parameters(x), 0.1), {a})",
    )
    for name, target, a in (
        ("CosineAnnealingLR", "cosine_decay_lr", "4"),
        ("ExponentialLR", "exponential_decay_lr", "0.5"),
        ("MultiStepLR", "piecewise_constant_lr", "[2, 3]"),
        ("StepLR", "piecewise_constant_lr", "2"),
    )
}

# A torch dataset answers d[0] and len(d); a sampler and a transform are called as they are.
DATASETS = (
    ("torchvision.datasets", "CIFAR10", "Cifar10Dataset"),
    ("torchvision.datasets", "CIFAR100", "Cifar100Dataset"),
    ("torchvision.datasets", "CelebA", "CelebADataset"),
    ("torchvision.datasets", "Cityscapes", "CityscapesDataset"),
    ("torchvision.datasets", "CocoDetection", "CocoDataset"),
    ("torchvision.datasets", "ImageFolder", "ImageFolderDataset"),
    ("torchvision.datasets", "MNIST", "MnistDataset"),
    ("torchvision.datasets", "VOCDetection", "VOCDataset"),
    ("torchvision.datasets", "VOCSegmentation", "VOCDataset"),
    ("torchaudio.datasets", "CMUARCTIC", "CMUArcticDataset"),
    ("torchaudio.datasets", "GTZAN", "GTZANDataset"),
    ("torchaudio.datasets", "LIBRITTS", "LibriTTSDataset"),
    ("torchaudio.datasets", "LJSPEECH", "LJSpeechDataset"),
    ("torchaudio.datasets", "SPEECHCOMMANDS", "SpeechCommandsDataset"),
    ("torchaudio.datasets", "TEDLIUM", "TedliumDataset"),
    ("torchaudio.datasets", "YESNO", "YesNoDataset"),
)
DATA = {
    f"{space}.{name} mindspore.dataset.{other}": (
        f"callable({'V' if 'vision' in space else 'A'}.datasets.{name}.__getitem__)",
        f"callable(M.dataset.{other}.__getitem__)",
    )
    for space, name, other in DATASETS
}
DATA |= {
    f"torch.utils.data.{path} mindspore.dataset.{path.rpartition('.')[2]}": (
        f"len(list(T.utils.data.{path}({a})))",
        f"len(list(M.dataset.{path.rpartition('.')[2]}({b})))",
    )
    for path, a, b in (
        ("RandomSampler", "range(6)", "range(6)"),
        ("SequentialSampler", "range(6)", "range(6)"),
        ("SubsetRandomSampler", "[1, 2]", "[1, 2]"),
        ("WeightedRandomSampler", "[0.5, 0.5], 4", "[0.5, 0.5], 4"),
        ("distributed.DistributedSampler", "range(6), 2, 0", "range(6), 2, 0"),
    )
}
DATA |= {
    f"torchvision.transforms.{name} mindspore.dataset.{other}": (
        f"np.asarray(V.transforms.{name}({a})(picture))",
        f"np.asarray(M.dataset.{other}({a})(picture))",
    )
    for name, other, a in (
        ("ColorJitter", "vision.RandomColorAdjust", "(1.5, 1.5)"),
        ("Compose", "transforms.Compose", "[np.asarray, lambda v: v + 1]"),
        ("RandomApply", "transforms.RandomApply", "[lambda v: v], 1.0"),
        ("RandomChoice", "transforms.RandomChoice", "[lambda v: v], [1.0]"),
        ("RandomOrder", "transforms.RandomOrder", "[np.asarray]"),
        ("RandomAffine", "vision.RandomAffine", "(30, 30)"),
        ("RandomPerspective", "vision.RandomPerspective", "0.5, 0.0, 2, 7"),
    )
}
DATA |= {
    "torchvision.transforms.ConvertImageDtype mindspore.dataset.transforms.TypeCast": (
        "V.transforms.ConvertImageDtype(T.float32)(T.tensor(np.asarray(picture)))",
        "M.dataset.transforms.TypeCast(M.float32)(np.asarray(picture))",
    ),
    "torchvision.transforms.ToPILImage mindspore.dataset.vision.ToPIL": (
        "np.asarray(V.transforms.ToPILImage()(image[0]))",
        "np.asarray(M.dataset.vision.ToPIL()(image[0]))",
    ),
}

AUDIO = {
    f"torchaudio.transforms.{name} mindspore.dataset.audio.{name}": (
        f"A.transforms.{name}({a})({v})",
        f"M.dataset.audio.{name}({b if b is not None else a})(arrays['{v}'])",
    )
    for name, a, b, v in (
        ("AmplitudeToDB", "'power'", None, "spectrum"),
        ("ComplexNorm", "", None, "complex_spectrum"),
        ("ComputeDeltas", "5", None, "spectrum"),
        ("Fade", "20, 20, 'linear'", None, "wave"),
        ("FrequencyMasking", "0", None, "spectrum"),
        ("GriffinLim", "400, 1", None, "spectrum"),
        ("InverseMelScale", "201, 40", None, "mel"),
        ("MelScale", "40", None, "spectrum"),
        ("MelSpectrogram", "", None, "wave"),
        ("MFCC", "", None, "wave"),
        ("MuLawEncoding", "256", None, "wave"),
        ("MuLawDecoding", "256", None, "codes"),
        ("Resample", "16000, 8000", None, "wave"),
        ("SlidingWindowCmn", "10", None, "spectrum"),
        ("SpectralCentroid", "16000", None, "wave"),
        ("Spectrogram", "", None, "wave"),
        ("TimeMasking", "0", None, "spectrum"),
        ("TimeStretch", "None, 201, 1.3", None, "complex_spectrum"),
        ("Vad", "16000", None, "wave"),
        ("Vol", "0.5", None, "wave"),
    )
}

CASES = {**LAYERS, **FUNCTIONS, **OPTIMIZERS, **DATA, **AUDIO}
