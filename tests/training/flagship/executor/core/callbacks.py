"""What is done beside the training: schedules, history, checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from .trainer import Trainer


class Callback:
    def on_step_end(self, trainer: Trainer, loss: float) -> None:
        pass

    def on_epoch_end(self, trainer: Trainer, scores: dict) -> None:
        pass


class LearningRateStepper(Callback):
    """The schedule moves with every step."""

    def __init__(self, scheduler: torch.optim.lr_scheduler.LRScheduler):
        self.scheduler = scheduler

    def on_step_end(self, trainer: Trainer, loss: float) -> None:
        self.scheduler.step()


class HistoryWriter(Callback):
    def __init__(self, path: Path):
        self.path = path

    def write(self, trainer: Trainer, **record) -> None:
        if trainer.processes.first:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as stream:
                print(json.dumps(record), file=stream)

    def on_step_end(self, trainer: Trainer, loss: float) -> None:
        lr = trainer.optimizer.param_groups[0]["lr"]
        self.write(trainer, epoch=trainer.epoch, loss=loss, lr=lr)

    def on_epoch_end(self, trainer: Trainer, scores: dict) -> None:
        self.write(trainer, epoch=trainer.epoch - 1, **scores)


class CheckpointSaver(Callback):
    """The state after each epoch, and the best."""

    def __init__(self, folder: Path, scheduler):
        self.folder = folder
        self.scheduler = scheduler
        self.best = float("-inf")

    def on_epoch_end(self, trainer: Trainer, scores: dict) -> None:
        if not trainer.processes.first:
            return
        state = trainer.state()
        state["scheduler"] = self.scheduler.state_dict()
        torch.save(state, self.folder / f"epoch_{trainer.epoch}.pt")
        if scores["acc1"] > self.best:
            self.best = scores["acc1"]
            torch.save(state, self.folder / "best.pt")
