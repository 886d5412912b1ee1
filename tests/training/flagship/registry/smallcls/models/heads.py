"""From vectors to scores and losses."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from .builder import HEADS, build_loss


@HEADS.register_module()
class LinearClsHead(nn.Module):
    def __init__(self, num_classes, in_channels, loss=dict(type="CrossEntropyLoss")):
        super().__init__()
        self.fc = nn.Linear(in_channels, num_classes)
        self.compute_loss = build_loss(loss)

    def forward_train(self, x, gt_label):
        if isinstance(x, tuple):
            x = x[-1]
        cls_score = self.fc(x)
        losses = {"loss": self.compute_loss(cls_score, gt_label)}
        with torch.no_grad():
            hits = (cls_score.argmax(1) == gt_label).float()
            losses["accuracy"] = hits.mean() * 100.0
        return losses

    def simple_test(self, x):
        if isinstance(x, tuple):
            x = x[-1]
        return F.softmax(self.fc(x), dim=1)
