"""The mode in which modules start: training in torch, evaluation in MindSpore."""

from mindspore import nn
from mindspore.experimental import optim


def start_in_training_mode():
    """Let every Cell that is built from here on start in training mode, as torch's modules do.

    A Cell built by others, and one whose constructor sets a mode itself, are then as in torch; a
    set_train() behind the construction would reach all layers below.
    """
    if hasattr(nn.Cell, "starts_in_training_mode"):
        return
    plain = nn.Cell.__init__

    def in_training_mode(self, *args, **kwargs):
        plain(self, *args, **kwargs)
        if not isinstance(self, (nn.Optimizer, optim.Optimizer)):
            self._phase = "train"
            self.add_flags(training=True)

    nn.Cell.__init__ = in_training_mode
    nn.Cell.starts_in_training_mode = True
