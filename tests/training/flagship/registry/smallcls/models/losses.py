"""Losses that heads are configured with."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from .builder import LOSSES


@LOSSES.register_module()
class CrossEntropyLoss(nn.Module):
    def __init__(self, loss_weight=1.0):
        super().__init__()
        self.loss_weight = loss_weight

    def forward(self, cls_score, label):
        return self.loss_weight * F.cross_entropy(cls_score, label)


@LOSSES.register_module()
class LabelSmoothLoss(nn.Module):
    def __init__(self, label_smooth_val, num_classes=None):
        super().__init__()
        self.smooth = label_smooth_val
        self.num_classes = num_classes

    def forward(self, cls_score, label):
        count = self.num_classes if self.num_classes is not None else cls_score.size(1)
        one_hot = torch.zeros_like(cls_score).scatter_(1, label.unsqueeze(1), 1)
        target = one_hot * (1 - self.smooth) + self.smooth / count
        return torch.sum(-target * F.log_softmax(cls_score.float(), dim=1), dim=1).mean()
