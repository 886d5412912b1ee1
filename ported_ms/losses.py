"""Cross entropy with label smoothing, for class indices and for soft targets."""

from __future__ import annotations

import mindspore
from mindspore import Tensor, nn, ops
import ms_migrate_helpers as helpers

REDUCTIONS = ("mean", "sum", "none")


def smooth_one_hot(target: Tensor, num_classes: int, smoothing: float = 0.0) -> Tensor:
    """Class indices as probability rows, `smoothing` of each spread evenly over all classes."""
    off_value = smoothing / num_classes
    rows = ops.full((target.shape[0], num_classes), off_value, dtype=mindspore.float32)
    return helpers.scatter(rows, 1, target.unsqueeze(1), 1.0 - smoothing + off_value)


class LabelSmoothingCrossEntropy(nn.Cell):
    """Cross entropy against targets of which `smoothing` is spread evenly over all classes.

    Written as a mixture of two terms instead of a dense target, so that no batch x classes
    matrix of probabilities has to be built for class indices.
    """

    def __init__(self, smoothing: float = 0.1, reduction: str = "mean") -> None:
        super().__init__()
        if not 0.0 <= smoothing < 1.0:
            raise ValueError(f"smoothing must be in [0, 1), not {smoothing}")
        if reduction not in REDUCTIONS:
            raise ValueError(f"reduction must be one of {REDUCTIONS}, not {reduction!r}")
        self.smoothing = smoothing
        self.reduction = reduction

    def construct(self, logits: Tensor, target: Tensor) -> Tensor:
        # Half precision has too few bits for the sum of exponentials over a thousand classes.
        log_probabilities = ops.log_softmax(logits.float(), axis=-1)
        on_target = -log_probabilities.gather_elements(
            dim=-1, index=target.unsqueeze(1)
        ).squeeze(axis=1)
        on_all = -log_probabilities.mean(dim=-1)
        loss = (1.0 - self.smoothing) * on_target + self.smoothing * on_all
        if self.reduction == "mean":
            return loss.mean()
        if self.reduction == "sum":
            return loss.sum()
        return loss


class SoftTargetCrossEntropy(nn.Cell):
    """Cross entropy against probability rows, as mixed or distilled targets give them."""

    def construct(self, logits: Tensor, target: Tensor) -> Tensor:
        return ops.sum(-target * ops.log_softmax(logits.float(), axis=-1), dim=-1).mean()


def build_loss(smoothing: float = 0.0) -> nn.Cell:
    """The training loss; without smoothing the library's own cross entropy is the faster one."""
    if smoothing > 0.0:
        return LabelSmoothingCrossEntropy(smoothing)
    return helpers.CrossEntropyLoss()
