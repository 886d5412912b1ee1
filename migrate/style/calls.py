"""Which call of a training loop is which: the network, the loss, an optimizer, a schedule."""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.resolve.hierarchy import OPTIMIZER, ancestors
from migrate.resolve.values import Instance, Value, options_of
from migrate.style.frames import Frame

MODULE = "torch.nn.Module"
SCHEDULER = "torch.optim.lr_scheduler.LRScheduler"
SCALERS = ("torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.amp.grad_scaler.GradScaler")
AUTOCASTS = ("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast")
NO_GRAD = ("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad")
_FUNCTIONAL = "torch.nn.functional."
# Functions of torch.nn.functional and the layers that compute the same.
LOSSES = {
    "binary_cross_entropy": "BCELoss",
    "binary_cross_entropy_with_logits": "BCEWithLogitsLoss",
    "cross_entropy": "CrossEntropyLoss",
    "huber_loss": "HuberLoss",
    "kl_div": "KLDivLoss",
    "l1_loss": "L1Loss",
    "mse_loss": "MSELoss",
    "nll_loss": "NLLLoss",
    "smooth_l1_loss": "SmoothL1Loss",
}


class Kinds:
    """What an expression of a frame is, by its type or by the type of what it stands for."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def api(self, call: ast.Call) -> str:
        """The torch name of what is called."""
        return self._context.flow.symbols.api(call.func)

    def is_a(self, node: ast.expr, frame: Frame, base: str) -> bool:
        origin, _ = frame.origin(node)
        return any(_derives(self._context.type(one), base) for one in (node, origin))

    def is_optimizer(self, node: ast.expr, frame: Frame) -> bool:
        return self.is_a(node, frame, OPTIMIZER)

    def is_scheduler(self, node: ast.expr, frame: Frame) -> bool:
        return self.is_a(node, frame, SCHEDULER)

    def is_module(self, node: ast.expr, frame: Frame) -> bool:
        return self.is_a(node, frame, MODULE)

    def is_scaler(self, node: ast.expr, frame: Frame) -> bool:
        return any(self.is_a(node, frame, name) for name in SCALERS)

    def loss_layer(self, call: ast.Call) -> str:
        """The layer for a function of torch.nn.functional, "" for anything else."""
        api = self.api(call)
        if not api.startswith(_FUNCTIONAL):
            return ""
        return LOSSES.get(api.removeprefix(_FUNCTIONAL), "")


def _derives(value: Value, base: str) -> bool:
    return any(
        base == name or base in ancestors(name)
        for option in options_of(value)
        if isinstance(option, Instance)
        for name in ([option.cls] if isinstance(option.cls, str) else option.cls.library_bases())
    )
