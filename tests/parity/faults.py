"""Seeded faults: each is one edit of a faithful twin, with the stage and the layer it must be
found at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

TWINS = Path(__file__).parent / "twins"


@dataclass(frozen=True)
class Family:
    """A torch model, its faithful twin, and the step to take with them."""

    name: str
    callable: str
    inputs: tuple[str, ...]
    loss: str = "cross_entropy"
    classes: int | None = None
    own_loss: str = ""
    own_optimizer: str = ""
    steps: int = 1

    @property
    def files(self) -> tuple[Path, Path]:
        stem = self.name.split("-")[0]
        return TWINS / f"{stem}_torch.py", TWINS / f"{stem}_ms.py"


FAMILIES = {
    family.name: family
    for family in (
        Family("cnn", "Net", ("4,3,32,32",), classes=10),
        Family("mlp", "Mixer", ("6,16",)),
        Family("attention", "Transformer", ("3,12:int64:0:40",), classes=40),
        Family(
            "cnn-sgd", "Net", ("4,3,32,32",), classes=10, own_loss="loss", own_optimizer="optimizer"
        ),
        Family("cnn-decay", "Net", ("4,3,32,32",), classes=10, own_optimizer="decay_all"),
        Family("cnn-adamw", "Net", ("4,3,32,32",), classes=10, own_optimizer="adamw"),
        Family("cnn-curve", "Net", ("4,3,32,32",), classes=10, own_optimizer="decay_all", steps=3),
    )
}


@dataclass(frozen=True)
class Fault:
    """One edit and what must be said of it; `path` is the torch path ('' is the model's own
    code).
    """

    name: str
    family: str
    old: str
    new: str
    stage: str
    path: str
    where: str = "model"
    kind: str = field(default="", compare=False)


def _cnn() -> list[Fault]:
    conv1 = 'self.conv1 = nn.Conv2d(3, 8, 5, stride=1, pad_mode="pad", padding=2, has_bias=True)'
    pool = 'nn.MaxPool2d(3, stride=2, pad_mode="pad", padding=1)'
    down = 'nn.Conv2d(8, 16, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)'
    stem_bn = "self.bn1 = nn.BatchNorm2d(8)"
    conv2 = (
        'self.conv2 = nn.Conv2d(channels, channels, 3, pad_mode="pad", padding=1, has_bias=False)'
    )
    inner = "out = self.relu(self.bn1(self.conv1(x)))\n        out = self.bn2(self.conv2(out))"
    flat = "ops.flatten(x, start_dim=1)"
    sized = 'size=size, mode="bilinear", align_corners=False'
    return [
        Fault(
            "max-pool pad_mode 'same'",
            "cnn",
            pool,
            'nn.MaxPool2d(3, stride=2, pad_mode="same")',
            "layers",
            "maxpool",
        ),
        Fault(
            "max-pool stride 1",
            "cnn",
            pool,
            pool.replace("stride=2", "stride=1"),
            "layers",
            "maxpool",
        ),
        Fault(
            "momentum not inverted",
            "cnn",
            stem_bn,
            "self.bn1 = nn.BatchNorm2d(8, momentum=0.1)",
            "buffers",
            "bn1",
        ),
        Fault(
            "BatchNorm eps 1e-3",
            "cnn",
            stem_bn,
            "self.bn1 = nn.BatchNorm2d(8, eps=1e-3)",
            "layers",
            "bn1",
        ),
        Fault(
            "BatchNorm frozen",
            "cnn",
            stem_bn,
            "self.bn1 = nn.BatchNorm2d(8, use_batch_statistics=False)",
            "layers",
            "bn1",
        ),
        Fault(
            "BatchNorm without affine",
            "cnn",
            stem_bn,
            "self.bn1 = nn.BatchNorm2d(8, affine=False)",
            "weights",
            "bn1",
        ),
        Fault(
            "bias missing",
            "cnn",
            conv1,
            conv1.replace("has_bias=True", "has_bias=False"),
            "weights",
            "conv1",
        ),
        Fault(
            "padding one short",
            "cnn",
            conv1,
            conv1.replace("padding=2", "padding=1"),
            "layers",
            "conv1",
        ),
        Fault(
            "LeakyReLU 0.2", "cnn", "nn.LeakyReLU(alpha=0.01)", "nn.LeakyReLU()", "layers", "down.2"
        ),
        Fault(
            "dropout keep-prob",
            "cnn",
            "nn.Dropout(p=0.1)",
            "nn.Dropout(0.1)",
            "randomness",
            "dropout",
        ),
        Fault(
            "strided conv pad_mode 'same'",
            "cnn",
            down,
            "nn.Conv2d(8, 16, 3, stride=2, has_bias=True)",
            "layers",
            "down.0",
        ),
        Fault(
            "stride on the wrong conv",
            "cnn",
            down,
            down.replace("stride=2", "stride=1"),
            "layers",
            "down.0",
        ),
        Fault(
            "dilated conv",
            "cnn",
            conv2,
            conv2.replace("padding=1", "padding=2, dilation=2"),
            "layers",
            "block1.conv2",
        ),
        Fault(
            "norms swapped",
            "cnn",
            inner,
            inner.replace("bn1", "bnX").replace("bn2", "bn1").replace("bnX", "bn2"),
            "layers",
            "block1",
        ),
        Fault(
            "missing ReLU",
            "cnn",
            inner,
            inner.replace("self.relu(self.bn1(self.conv1(x)))", "self.bn1(self.conv1(x))"),
            "layers",
            "block1",
        ),
        Fault("shortcut missing", "cnn", "out = out + x", "out = out", "layers", "block1"),
        Fault("shortcut scaled", "cnn", "out = out + x", "out = out + 0.9 * x", "layers", "block1"),
        Fault(
            "branch detached",
            "cnn",
            "out = out + x",
            "out = ops.stop_gradient(out) + x",
            "gradients",
            "block2",
        ),
        Fault(
            "shortcut detached",
            "cnn",
            "out = out + x",
            "out = out + ops.stop_gradient(x)",
            "gradients",
            "block2",
        ),
        Fault("flatten from axis 0", "cnn", flat, "ops.flatten(x, start_dim=0)", "layers", ""),
        Fault("upsample alignment", "cnn", sized, sized.replace("False", "True"), "layers", "up"),
        Fault("upsample nearest", "cnn", sized, 'size=size, mode="nearest"', "layers", "up"),
        Fault(
            "max instead of average",
            "cnn",
            "nn.AdaptiveAvgPool2d(1)",
            "nn.AdaptiveMaxPool2d(1)",
            "layers",
            "avgpool",
        ),
        Fault(
            "image axes swapped",
            "cnn",
            "x = self.block1(x)",
            "x = self.block1(x.swapaxes(2, 3))",
            "layers",
            "",
        ),
        Fault(
            "channels reversed",
            "cnn",
            "x = self.block1(x)",
            "x = self.block1(ops.flip(x, (1,)))",
            "layers",
            "",
        ),
        Fault(
            "NaN in the head",
            "cnn",
            flat,
            "ops.sqrt(ops.flatten(x, start_dim=1) - 100.0)",
            "layers",
            "",
        ),
        Fault(
            "gradient halved",
            "cnn",
            "return ops.interpolate(x,",
            "x = 0.5 * x + ops.stop_gradient(0.5 * x)\n        return ops.interpolate(x,",
            "gradients",
            "up",
        ),
        Fault(
            "gamma frozen",
            "cnn",
            stem_bn,
            f"{stem_bn}\n        self.bn1.gamma.requires_grad = False",
            "weights",
            "bn1",
        ),
    ]


def _mlp() -> list[Fault]:
    dense = "nn.SequentialCell(nn.Dense(width, width), nn.Softmax(axis=-1))"
    std = "ops.std(h, axis=1, ddof=1, keepdims=True)"
    return [
        Fault(
            "LayerNorm eps 1e-7",
            "mlp",
            "nn.LayerNorm((width,), epsilon=1e-5)",
            "nn.LayerNorm((width,))",
            "layers",
            "norm",
        ),
        Fault("GELU tanh", "mlp", "nn.GELU(approximate=False)", "nn.GELU()", "layers", "act"),
        Fault(
            "softmax axis", "mlp", "nn.Softmax(axis=-1)", "nn.Softmax(axis=0)", "layers", "gate.1"
        ),
        Fault(
            "gate bias missing",
            "mlp",
            dense,
            dense.replace("width, width)", "width, width, has_bias=False)"),
            "weights",
            "gate.0",
        ),
        Fault(
            "transposed weight",
            "mlp",
            "ops.matmul(h, self.mix.T)",
            "ops.matmul(h, self.mix)",
            "layers",
            "",
        ),
        Fault(
            "SELU gradient kernel",
            "mlp",
            "self.selu = SELU()",
            "self.selu = nn.SeLU()",
            "gradients",
            "selu",
        ),
        Fault("std ddof 0", "mlp", std, std.replace("ddof=1", "ddof=0"), "layers", ""),
        Fault(
            "mean over the batch",
            "mlp",
            "h.mean(1, keep_dims=True)",
            "h.mean(0, keep_dims=True)",
            "layers",
            "",
        ),
        Fault(
            "clamp bounds",
            "mlp",
            "ops.clamp(h, -1.0, 1.0)",
            "ops.clamp(h, -1.1, 1.1)",
            "layers",
            "",
        ),
        Fault(
            "hard swish for SiLU",
            "mlp",
            "self.swish = nn.SiLU()",
            "self.swish = nn.HSwish()",
            "layers",
            "swish",
        ),
        Fault(
            "BatchNorm1d momentum",
            "mlp",
            "nn.BatchNorm1d(width)",
            "nn.BatchNorm1d(width, momentum=0.99)",
            "buffers",
            "bn",
        ),
        Fault(
            "half precision inside",
            "mlp",
            "h = h * self.gate(h)",
            "h = (h * self.gate(h)).half().float()",
            "layers",
            "",
        ),
        Fault(
            "Conv1d padding",
            "mlp",
            'pad_mode="pad", padding=1, has_bias=True',
            'pad_mode="pad", padding=(2, 0), has_bias=True',
            "layers",
            "conv",
        ),
        Fault(
            "outputs swapped",
            "mlp",
            "h = self.prelu(self.selu(4 * h))",
            "h = self.selu(self.prelu(4 * h))",
            "layers",
            "",
        ),
    ]


def _attention() -> list[Fault]:
    qkv = "q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))"
    scale = "/ math.sqrt(w // self.heads)"
    return [
        Fault("attention scale missing", "attention", scale, "", "layers", "block1.attn"),
        Fault(
            "attention scale of the width",
            "attention",
            scale,
            "/ math.sqrt(w)",
            "layers",
            "block1.attn",
        ),
        Fault(
            "causal mask off by one",
            "attention",
            "diagonal=1",
            "diagonal=2",
            "layers",
            "block1.attn",
        ),
        Fault(
            "mask missing",
            "attention",
            "scores = ops.masked_fill(scores, hidden, -1e9)",
            "scores = scores",
            "layers",
            "block1.attn",
        ),
        Fault(
            "softmax over queries",
            "attention",
            "ops.softmax(scores, axis=-1)",
            "ops.softmax(scores, axis=-2)",
            "layers",
            "block1.attn",
        ),
        Fault(
            "query and key swapped",
            "attention",
            qkv,
            qkv.replace("query", "Q").replace("key", "query").replace("Q", "key"),
            "layers",
            "block1.attn",
        ),
        Fault(
            "heads split in the wrong order",
            "attention",
            "x.reshape(b, t, self.heads, w // self.heads).swapaxes(1, 2)",
            "x.reshape(b, self.heads, t, w // self.heads)",
            "layers",
            "block1.attn",
        ),
        Fault(
            "norm after instead of before",
            "attention",
            "x = x + self.attn(self.norm1(x))",
            "x = self.norm1(x + self.attn(x))",
            "layers",
            "block1",
        ),
        Fault(
            "position missing",
            "attention",
            "x = x + self.position[: ids.shape[1]]",
            "x = x",
            "layers",
            "",
        ),
        Fault(
            "padding row gets a gradient",
            "attention",
            "x = ops.where((ids == 0).expand_dims(-1), ops.stop_gradient(x), x)",
            "x = x",
            "gradients",
            "embed",
        ),
        Fault(
            "norm over all tokens",
            "attention",
            "self.norm = nn.LayerNorm((width,), epsilon=1e-5)",
            "self.norm = nn.LayerNorm((width,), begin_norm_axis=1, begin_params_axis=2, "
            "epsilon=1e-5)",
            "layers",
            "norm",
        ),
        Fault(
            "MLP GELU tanh",
            "attention",
            "nn.GELU(approximate=False)",
            "nn.GELU()",
            "layers",
            "block1.mlp.1",
        ),
    ]


def _training() -> list[Fault]:
    group = '{"params": spared, "weight_decay": 0.0}'
    return [
        Fault(
            "label smoothing off",
            "cnn-sgd",
            "label_smoothing=0.1",
            "label_smoothing=0.0",
            "loss",
            "",
            "training",
        ),
        Fault(
            "loss summed",
            "cnn-sgd",
            "label_smoothing=0.1",
            "label_smoothing=0.1, reduction='sum'",
            "loss",
            "",
            "training",
        ),
        Fault(
            "weight decay on BatchNorm",
            "cnn-sgd",
            group,
            group.replace("0.0", "0.05"),
            "updates",
            "",
            "training",
        ),
        Fault(
            "nesterov off", "cnn-sgd", "nesterov=True", "nesterov=False", "updates", "", "training"
        ),
        Fault(
            "learning rate off by 10%",
            "cnn-sgd",
            "lr=0.1, momentum=0.9, nesterov",
            "lr=0.11, momentum=0.9, nesterov",
            "updates",
            "",
            "training",
        ),
        Fault(
            "nn.SGD spares gamma and beta",
            "cnn-decay",
            "optim.SGD(model.trainable_params(), lr=0.1,",
            "nn.SGD(model.trainable_params(), learning_rate=0.1,",
            "updates",
            "",
            "training",
        ),
        Fault(
            "mint.optim.SGD moves nothing",
            "cnn-decay",
            "optim.SGD(model.trainable_params(), lr",
            "mint.optim.SGD(model.trainable_params(), lr",
            "updates",
            "",
            "training",
        ),
        Fault(
            "AdamWeightDecay for AdamW",
            "cnn-adamw",
            "optim.AdamW(model.trainable_params(), lr=0.01,",
            "nn.AdamWeightDecay(model.trainable_params(), learning_rate=0.01,",
            "updates",
            "",
            "training",
        ),
        Fault(
            "AdamW decay 0.01",
            "cnn-adamw",
            "weight_decay=0.1",
            "weight_decay=0.01",
            "updates",
            "",
            "training",
        ),
        Fault(
            "momentum 0.8",
            "cnn-curve",
            "lr=0.1, momentum=0.9, weight_decay",
            "lr=0.1, momentum=0.8, weight_decay",
            "curve",
            "",
            "training",
        ),
    ]


FAULTS = [*_cnn(), *_mlp(), *_attention(), *_training()]
