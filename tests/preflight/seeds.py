"""Operators that MindSpore's Ascend backend does not take as they stand, one function each.

Found from its registries: operators without an adapter, with restricted dtypes, with AI CPU
kernels, or with shapes that depend on values. The comment is what preflight must say of the line.
"""

from mindspore import bfloat16, float64, int32, nn, ops


class Seed(nn.Cell):
    """A model of one operator."""

    def __init__(self, operator):
        super().__init__()
        self.operator = operator

    def construct(self, x):
        return self.operator(x)


def median(x):
    # no kernel: Median
    return ops.median(x)[0]


def nanmedian(x):
    # no kernel: Median
    return ops.nanmedian(x)[0]


def matrix_power(x):
    # no kernel: MatrixPower
    return ops.matrix_power(x, 2)


def fmax(x):
    # no kernel: Fmax
    return ops.fmax(x, x)


def fmin(x):
    # no kernel: Fmin
    return ops.fmin(x, x)


def frac(x):
    # no kernel: FractionalMaxPoolWithFixedKsize
    return ops.fractional_max_pool2d(x.reshape(1, 1, 4, 4), 2, output_size=(2, 2))


def bessel_j0(x):
    # no kernel: BesselJ0
    return ops.bessel_j0(x)


def bessel_j1(x):
    # no kernel: BesselJ1
    return ops.bessel_j1(x)


def bessel_y0(x):
    # no kernel: BesselY0
    return ops.bessel_y0(x)


def bessel_y1(x):
    # no kernel: BesselY1
    return ops.bessel_y1(x)


def bessel_i1(x):
    # no kernel: BesselI1
    return ops.bessel_i1(x)


def bessel_k0(x):
    # no kernel: BesselK0
    return ops.bessel_k0(x)


def bessel_k0e(x):
    # no kernel: BesselK0e
    return ops.bessel_k0e(x)


def bessel_k1(x):
    # no kernel: BesselK1
    return ops.bessel_k1(x)


def bessel_k1e(x):
    # no kernel: BesselK1e
    return ops.bessel_k1e(x)


def bernoulli(x):
    # no kernel: Bernoulli
    return ops.bernoulli(ops.sigmoid(x))


def isnan_bfloat16(x):
    # dtype refused: IsNan
    return ops.isnan(x.astype(bfloat16))


def acosh_of_integers(x):
    # dtype refused: Acosh
    return ops.acosh(x.astype(int32))


def conv3d_dilated(x):
    # refused: Conv3D
    return ops.conv3d(x.reshape(1, 1, 4, 2, 2), x[:2, :1].reshape(1, 1, 2, 1, 1), dilation=2)


def max_pool2d(x):
    # dtype refused: MaxPoolWithArgmaxV2
    return ops.max_pool2d(x.reshape(1, 1, 4, 4), 2)


def conj(x):
    # dtype refused: Conj
    return ops.conj(x)


def real(x):
    # dtype refused: Real
    return ops.real(x)


def imag(x):
    # dtype refused: Imag
    return ops.imag(x)


def conv64(x):
    # dtype refused: Conv2D
    return ops.conv2d(x.astype(float64).reshape(1, 1, 4, 4), x.astype(float64).reshape(1, 1, 4, 4))


def relu6_64(x):
    # dtype refused: ReLU6
    return ops.relu6(x.astype(float64))


def bn64(x):
    # dtype refused: BatchNorm
    return nn.BatchNorm2d(4)(x.astype(float64).reshape(1, 4, 2, 2))


def avgpool64(x):
    # dtype refused: AvgPool3D
    return ops.avg_pool2d(x.astype(float64).reshape(1, 1, 4, 4), 2)


def layernorm64(x):
    # dtype refused: LayerNorm
    return nn.LayerNorm((4,))(x.astype(float64))


def nonzero(x):
    # undecided: NonZero
    return ops.nonzero(x)


def masked_select(x):
    # undecided: MaskedSelect
    return ops.masked_select(x, x > 0)


def unique(x):
    # undecided: Unique
    return ops.unique(x.reshape(-1))[0]


def max_pool_pad(x):
    # runs on the AI CPU: MaxPool3DWithArgmax
    return nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)(x.reshape(1, 1, 4, 4))


def eigvals(x):
    # runs on the AI CPU: Eig
    return ops.eigvals(x)


def cholesky_inverse(x):
    # runs on the AI CPU: CholeskyInverse
    return ops.cholesky_inverse(x)


def logit(x):
    # runs on the AI CPU: Logit
    return ops.logit(x, 0.1)


def lgamma(x):
    # runs on the AI CPU: Lgamma
    return ops.lgamma(x)


def igamma(x):
    # runs on the AI CPU: Igamma
    return ops.igamma(x, x)


def adaptive_avg(x):
    # runs on the AI CPU: AdaptiveAvgPool2D
    return ops.adaptive_avg_pool2d(x.reshape(1, 1, 4, 4), 2)


def bicubic(x):
    # runs on the AI CPU: ResizeBicubic
    return ops.interpolate(x.reshape(1, 1, 4, 4), size=(8, 8), mode="bicubic")


def multinomial(x):
    # runs on the AI CPU: Multinomial
    return ops.multinomial(x, 2)


def make(name):
    """The model for one of the functions above."""
    return Seed(globals()[name])
