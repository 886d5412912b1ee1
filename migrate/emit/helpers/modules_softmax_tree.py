"""The adaptive softmax, computed in full."""

import mindspore
from mindspore import nn, ops


class AdaptiveLogSoftmaxWithLoss(nn.Cell):
    """Softmax in clusters of ever rarer classes: the targets' log probabilities and the loss."""

    def __init__(
        self,
        in_features,
        n_classes,
        cutoffs,
        div_value=4.0,
        head_bias=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        dtype = dtype or mindspore.float32
        self.cutoffs = [*cutoffs, n_classes]
        self.shortlist = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        head_size = self.shortlist + self.n_clusters
        self.head = nn.Dense(in_features, head_size, has_bias=head_bias, dtype=dtype)
        tails = []
        for i in range(self.n_clusters):
            inner = int(in_features // (div_value ** (i + 1)))
            width = self.cutoffs[i + 1] - self.cutoffs[i]
            tails.append(
                nn.SequentialCell(
                    nn.Dense(in_features, inner, has_bias=False, dtype=dtype),
                    nn.Dense(inner, width, has_bias=False, dtype=dtype),
                )
            )
        self.tail = nn.CellList(tails)

    def log_prob(self, input):
        """Log probabilities of all classes."""
        head = ops.log_softmax(self.head(input), 1)
        parts = (head[:, : self.shortlist],)
        for i in range(self.n_clusters):
            chosen = head[:, self.shortlist + i : self.shortlist + i + 1]
            parts += (chosen + ops.log_softmax(self.tail[i](input), 1),)
        return ops.cat(parts, 1)

    def predict(self, input):
        """The most likely class of every row."""
        return self.log_prob(input).argmax(1)

    def construct(self, input, target):
        batched = target.ndim > 0
        rows = input if batched else input.expand_dims(0)
        index = target.reshape((-1, 1)).astype("int32")
        output = ops.gather_elements(self.log_prob(rows), 1, index).squeeze(1)
        loss = -output.mean()
        return (output if batched else output.squeeze(0)), loss
