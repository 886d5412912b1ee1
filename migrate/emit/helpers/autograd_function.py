"""Functions with a gradient of their own, called by `apply` as torch's are."""

import mindspore
from mindspore import Tensor, nn, ops
from mindspore.common.recompute import _pynative_executor


class _Recorded(mindspore._Function):
    """A Function in PyNative mode, where the record of operators has no place for a bprop."""

    @staticmethod
    def forward(ctx, cell, *inputs):
        ctx.cell, ctx.inputs = cell, inputs
        ctx.output = cell.construct(*inputs)
        return ctx.output

    @staticmethod
    def backward(ctx, *gradients):
        whole = gradients if isinstance(ctx.output, (tuple, list)) else gradients[0]
        found = ctx.cell.bprop(*ctx.inputs, ctx.output, whole)
        found = found if isinstance(found, (tuple, list)) else (found,)
        pairs = zip(ctx.inputs, found, strict=True)
        return None, *(g if isinstance(value, Tensor) else None for value, g in pairs)


class Function(nn.Cell):
    """The base of a function whose bprop is written out; `apply` is its one instance."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.apply = cls()

    def __call__(self, *inputs):
        eager = mindspore.get_context("mode") == mindspore.PYNATIVE_MODE
        if eager and _pynative_executor.grad_flag():
            return _Recorded.apply(self, *inputs)
        return super().__call__(*inputs)


def no_gradient(value):
    """What bprop gives for an input that gets no gradient."""
    return ops.zeros_like(value) if isinstance(value, Tensor) else 0
