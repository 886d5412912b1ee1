"""The written-out loss is the library's label-smoothed cross entropy."""

import pytest

pytestmark = pytest.mark.frameworks


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_values_and_gradients_are_the_librarys(load, smoothing, reduction):
    import torch
    from torch import nn

    losses = load("losses")
    target = torch.tensor([0, 3, 6, 3, 1])
    ours = torch.randn(5, 7).requires_grad_()
    theirs = ours.detach().clone().requires_grad_()
    mine = losses.LabelSmoothingCrossEntropy(smoothing, reduction)(ours, target)
    other = nn.CrossEntropyLoss(label_smoothing=smoothing, reduction=reduction)(theirs, target)
    torch.testing.assert_close(mine, other)
    mine.sum().backward()
    other.sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_soft_targets_agree_with_indices(load):
    import torch

    losses = load("losses")
    logits, target = torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 3, 0])
    rows = losses.smooth_one_hot(target, 4, 0.2)
    torch.testing.assert_close(rows.sum(dim=1), torch.ones(6))
    torch.testing.assert_close(
        losses.SoftTargetCrossEntropy()(logits, rows),
        losses.LabelSmoothingCrossEntropy(0.2)(logits, target),
    )


def test_half_precision_logits_lose_nothing_in_the_sum(load):
    import torch

    losses = load("losses")
    logits, target = torch.randn(8, 1000).half(), torch.arange(8)
    loss = losses.LabelSmoothingCrossEntropy(0.1)(logits, target)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, losses.LabelSmoothingCrossEntropy(0.1)(logits.float(), target))


def test_bad_arguments_are_refused(load):
    losses = load("losses")
    with pytest.raises(ValueError, match=r"smoothing must be in \[0, 1\)"):
        losses.LabelSmoothingCrossEntropy(1.0)
    with pytest.raises(ValueError, match="reduction must be one of"):
        losses.LabelSmoothingCrossEntropy(0.1, "median")


def test_build_loss_smooths_only_when_asked(load):
    from torch import nn

    losses = load("losses")
    assert isinstance(losses.build_loss(0.0), nn.CrossEntropyLoss)
    assert losses.build_loss(0.1).smoothing == 0.1
