"""The loop over epochs and batches: steps of the optimizer, evaluation, callbacks."""

from pathlib import Path
from typing import Iterable, List, Optional

import torch

from .callbacks import Callback
from .distributed import Processes
from .executor import Executor


class Trainer:
    def __init__(
        self,
        executor: Executor,
        optimizer: torch.optim.Optimizer,
        processes: Processes,
        scaler: Optional["torch.amp.GradScaler"] = None,
        clip: Optional[float] = None,
        callbacks: Iterable[Callback] = (),
    ) -> None:
        self.executor = executor
        self.optimizer = optimizer
        self.processes = processes
        self.scaler = scaler
        self.clip = clip
        self.callbacks: List[Callback] = list(callbacks)
        self.epoch = 0
        self.steps = 0

    def tell(self, event: str, **what) -> None:
        for callback in self.callbacks:
            getattr(callback, event)(self, **what)

    def fit(self, train_loader, val_loader, epochs: int) -> None:
        while self.epoch < epochs:
            if hasattr(train_loader.sampler, "set_epoch"):
                train_loader.sampler.set_epoch(self.epoch)
            self.run_epoch(train_loader)
            scores = self.evaluate(val_loader)
            self.epoch += 1
            self.tell("on_epoch_end", scores=scores)

    def run_epoch(self, loader) -> None:
        self.executor.net.train()
        self.optimizer.zero_grad(set_to_none=True)
        for place, batch in enumerate(loader, start=1):
            result = self.executor.train_batch(batch)
            if place % self.executor.accumulate == 0:
                self.update()
                self.tell("on_step_end", loss=result["loss"])

    def update(self) -> None:
        """One step of the optimizer by the gradients that the Executor has left."""
        if self.scaler is not None:
            if self.clip is not None:
                self.scaler.unscale_(self.optimizer)
                torch.nn.utils.clip_grad_norm_(self.executor.net.parameters(), self.clip)
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            if self.clip is not None:
                torch.nn.utils.clip_grad_norm_(self.executor.net.parameters(), self.clip)
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.steps += 1

    def evaluate(self, loader) -> dict:
        self.executor.net.eval()
        sums = torch.zeros(3, dtype=torch.float64, device=self.processes.device)
        for batch in loader:
            result = self.executor.eval_batch(batch)
            sums += torch.tensor(
                [result["loss"] * result["count"], result["hits"], result["count"]],
                dtype=torch.float64,
                device=self.processes.device,
            )
        self.processes.add_up(sums)
        loss, hit, count = sums.tolist()
        return {"val_loss": loss / count, "acc1": 100.0 * hit / count, "count": int(count)}

    def state(self) -> dict:
        net = self.executor.net
        bare = net.module if isinstance(net, torch.nn.parallel.DistributedDataParallel) else net
        return {
            "net": bare.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scaler": None if self.scaler is None else self.scaler.state_dict(),
            "epoch": self.epoch,
            "steps": self.steps,
        }

    def load(self, path: Path, scheduler) -> None:
        state = torch.load(path, map_location=self.processes.device)
        net = self.executor.net
        bare = net.module if hasattr(net, "module") else net
        bare.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        if self.scaler is not None and state["scaler"] is not None:
            self.scaler.load_state_dict(state["scaler"])
        self.epoch = state["epoch"]
        self.steps = state["steps"]
