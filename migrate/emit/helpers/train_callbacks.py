"""Callbacks and metrics for mindspore.train.Model that MindSpore does not have."""

from mindspore.train import Callback, Metric


class SchedulerCallback(Callback):
    """Steps a schedule of mindspore.experimental.optim after every epoch, or after every batch."""

    def __init__(self, scheduler, every="epoch"):
        super().__init__()
        self.scheduler, self.every = scheduler, every

    def on_train_step_end(self, run_context):
        if self.every == "step":
            self.scheduler.step()

    def on_train_epoch_end(self, run_context):
        if self.every == "epoch":
            self.scheduler.step()


class SampleLoss(Metric):
    """The mean loss of a sample; mindspore.train.Loss is the mean over batches, however large."""

    def __init__(self, loss_fn):
        super().__init__()
        self.loss_fn = loss_fn
        self.clear()

    def clear(self):
        self._sum, self._count = 0.0, 0

    def update(self, *inputs):
        outputs, labels = inputs
        self._sum += float(self.loss_fn(outputs, labels).asnumpy()) * len(labels)
        self._count += len(labels)

    def eval(self):
        if self._count == 0:
            raise RuntimeError("there was no batch to evaluate")
        return self._sum / self._count
