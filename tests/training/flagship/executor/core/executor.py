"""Runs one batch: forward and backward. What the gradients are for, the Trainer knows."""

from typing import Optional

import torch
from torch import nn


class Executor:
    def __init__(
        self,
        net: nn.Module,
        loss_function: nn.Module,
        device: torch.device,
        scaler: Optional[torch.amp.GradScaler] = None,
        accumulate: int = 1,
    ):
        self.net = net
        self.loss_function = loss_function
        self.device = device
        self.scaler = scaler
        self.accumulate = accumulate

    @property
    def precise(self) -> bool:
        return self.scaler is None

    def forward(self, images: torch.Tensor, labels: torch.Tensor):
        with torch.autocast(self.device.type, dtype=torch.float16, enabled=not self.precise):
            scores = self.net(images)
            loss = self.loss_function(scores, labels)
        return scores, loss

    def train_batch(self, batch) -> dict:
        images, labels = (part.to(self.device, non_blocking=True) for part in batch)
        scores, loss = self.forward(images, labels)
        share = loss / self.accumulate
        if self.scaler is not None:
            self.scaler.scale(share).backward()
        else:
            share.backward()
        return {"loss": loss.item(), "hits": hits(scores, labels), "count": len(labels)}

    @torch.no_grad()
    def eval_batch(self, batch) -> dict:
        images, labels = (part.to(self.device, non_blocking=True) for part in batch)
        scores = self.net(images)
        loss = self.loss_function(scores, labels)
        return {"loss": loss.item(), "hits": hits(scores, labels), "count": len(labels)}


def hits(scores: torch.Tensor, labels: torch.Tensor) -> int:
    return int((scores.detach().argmax(dim=1) == labels).sum())
