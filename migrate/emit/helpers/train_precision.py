"""torch's autocast: operators that compute in lower precision, and those that stay in float32.

The lists are torch's, by the names of the operators that MindSpore runs for them; all others
compute in the type of their inputs. MindSpore applies such lists itself, in both modes.
"""

import functools
import os
import warnings

import mindspore
from mindspore._c_expression.amp import (
    AmpLevel,
    create_amp_strategy,
    pop_amp_strategy,
    push_amp_strategy,
)

_LOWER = """
    Addbmm Addmm Addmv Baddbmm BatchMatMul BatchMatMulExt BiasAdd Conv1DExt Conv1DPadding
    Conv2D Conv2DBackpropInput Conv2DExt Conv2DPadding Conv2DTranspose Conv3D Conv3DExt
    Conv3DPadding Conv3DTranspose ConvTranspose2D Convolution Dense Einsum
    FlashAttentionScore Ger MatMul MatMulExt Mv PReLU
"""
_FLOAT32 = """
    ACos Acosh Asin BCEWithLogitsLoss Cdist Cosh CumProd CumSum CumsumExt Erfinv Exp Expm1
    GroupNorm KLDivLoss L1LossExt LayerNorm LayerNormExt Log Log10 Log1p Log2 LogSoftmax
    LogSoftmaxExt LpNorm MSELossExt MultiMarginLoss MultilabelMarginLoss NLLLoss NLLLoss2d
    Norm Pdist Pow ProdExt Reciprocal ReduceProd ReduceSum Renorm Rsqrt Sinh SmoothL1Loss
    SoftMarginLoss Softmax Softplus SoftplusExt Square SumExt Tan TripletMarginLoss
"""
_LEVELS = {"O0": AmpLevel.AmpO0, "O2": AmpLevel.AmpO2, "O3": AmpLevel.AmpO3}


class autocast:
    """torch.autocast for a block or a function; "cuda" stands for any accelerator, and does nothing
    on a CPU, as in torch. MS_MIGRATE_AMP_LEVEL chooses another level of MindSpore's: O0 is off, O2
    casts all but batch norms and the like, O3 everything, O1 is torch's, on a CPU as well.
    """

    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
        if dtype is None:
            dtype = mindspore.bfloat16 if device_type == "cpu" else mindspore.float16
        on_cpu = mindspore.get_context("device_target") == "CPU"
        if enabled and on_cpu and device_type != "cpu" and "MS_MIGRATE_AMP_LEVEL" not in os.environ:
            warnings.warn("no accelerator: autocast is off, as in torch", stacklevel=2)
            enabled = False
        if dtype == mindspore.bfloat16 and on_cpu:
            if enabled:
                warnings.warn("MindSpore's CPU has no bfloat16: float16 is used", stacklevel=2)
            dtype = mindspore.float16
        level = _LEVELS.get(os.environ.get("MS_MIGRATE_AMP_LEVEL", "O1"), AmpLevel.AmpAuto)
        self.dtype, self.enabled = dtype, bool(enabled) and level != AmpLevel.AmpO0
        level = level if self.enabled else AmpLevel.AmpO0
        lower = [(name, []) for name in _LOWER.split()] if self.enabled else []
        upper = [(name, []) for name in _FLOAT32.split()] if self.enabled else []
        self.settings = (level, dtype, lower, upper)
        self.modes = []

    def __enter__(self):
        mode = mindspore.get_context("mode")
        self.modes.append(mode)
        if mode == mindspore.GRAPH_MODE:
            # A Cell that Graph mode compiles takes no notice of a block around its call.
            mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
        push_amp_strategy(*self.settings)
        return self

    def __exit__(self, *error):
        pop_amp_strategy()
        if self.modes.pop() == mindspore.GRAPH_MODE:
            mindspore.set_context(mode=mindspore.GRAPH_MODE)
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def cast(*args, **options):
            with self:
                return function(*args, **options)

        cast.autocast = self
        # How a compiled function is told; the wrapper stands for it in compiled code.
        cast.amp_strategy = function.amp_strategy = create_amp_strategy(*self.settings)
        return cast

    @classmethod
    def of(cls, context):
        """A context as a decorator; what is no autocast, nullcontext(), changes nothing."""
        return context if isinstance(context, cls) else cls(enabled=False)

    def __str__(self):
        return f"{self.settings[0]} {self.dtype}"


def cuda_autocast(enabled=True, dtype=None, cache_enabled=True):
    """torch.cuda.amp.autocast, where it is passed on."""
    return autocast("cuda", dtype, enabled, cache_enabled)
