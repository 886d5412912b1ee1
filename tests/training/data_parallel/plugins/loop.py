"""A trainer that knows no precision, and callbacks that know the trainer."""

import torch


class Average:
    def __init__(self, decay=0.8):
        self.decay = decay
        self.shadow = {}

    def on_fit_start(self, trainer):
        self.shadow = {k: v.detach().clone() for k, v in trainer.bare.state_dict().items()}

    def on_step(self, trainer, batch_idx):
        with torch.no_grad():
            for k, v in trainer.bare.state_dict().items():
                if v.dtype.is_floating_point:
                    self.shadow[k] = self.shadow[k] * self.decay + v.detach() * (1 - self.decay)
                else:
                    self.shadow[k] = v.clone()


class Rates:
    def __init__(self):
        self.seen = []

    def on_fit_start(self, trainer):
        pass

    def on_step(self, trainer, batch_idx):
        self.seen.append(trainer.scheduler.get_last_lr()[0])


class Trainer:
    def __init__(self, fabric, accumulate=1, clip=None, callbacks=None):
        self.fabric = fabric
        self.accumulate = accumulate
        self.clip = clip
        self.callbacks = callbacks or []
        self.losses = []

    def call(self, hook, *args):
        for callback in self.callbacks:
            getattr(callback, hook)(self, *args)

    @property
    def bare(self):
        return getattr(self.model, "module", self.model)

    def fit(self, task, batches, epochs):
        optimizer, self.scheduler = task.configure_optimizers()
        self.model, self.optimizer = self.fabric.setup(task.model, optimizer)
        self.call("on_fit_start")
        for _ in range(epochs):
            self.epoch(task, batches)
        return self.losses

    def epoch(self, task, batches):
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        for batch_idx, batch in enumerate(batches):
            accumulating = (batch_idx + 1) % self.accumulate != 0
            with self.fabric.no_sync(self.model, enabled=accumulating):
                with self.fabric.autocast():
                    loss = task.training_step(self.model, batch)
                self.fabric.backward(loss / self.accumulate)
            if not accumulating:
                if self.clip is not None:
                    self.fabric.clip_gradients(self.model, self.optimizer, self.clip)
                self.fabric.step(self.optimizer)
                self.optimizer.zero_grad(set_to_none=True)
                self.scheduler.step()
                self.call("on_step", batch_idx)
            self.losses.append(self.fabric.mean(loss.detach()))
