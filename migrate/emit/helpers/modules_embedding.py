"""Embeddings that start and learn as torch's do."""

import mindspore
from mindspore import Parameter, nn, ops
from mindspore.common.initializer import Normal


class Embedding(nn.Embedding):
    """nn.Embedding with torch's arguments; the padding row gets no gradient."""

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        _weight=None,
        _freeze=False,
        device=None,
        dtype=None,
    ):
        if scale_grad_by_freq:
            raise NotImplementedError("scale_grad_by_freq has no counterpart")
        if padding_idx is not None and padding_idx < 0:
            padding_idx += num_embeddings
        super().__init__(
            num_embeddings,
            embedding_dim,
            embedding_table=Normal(1.0),
            dtype=dtype or mindspore.float32,
            padding_idx=padding_idx,
        )
        if _weight is not None:
            self.embedding_table.set_data(_weight)
        self.embedding_table.requires_grad = not _freeze
        self.max_norm, self.norm_type = max_norm, float(norm_type)

    def _renormalised(self, input):
        """The table, whose rows that are looked up are at most max_norm long."""
        table = ops.stop_gradient(self.embedding_table)
        lengths = ops.norm(table, ord=self.norm_type, dim=1)
        rows = ops.arange(table.shape[0]).expand_dims(0)
        used = (input.reshape((-1, 1)) == rows).astype(mindspore.int32).sum(0) > 0
        scale = ops.where(lengths > self.max_norm, self.max_norm / (lengths + 1e-7), 1.0)
        return table * ops.where(used, scale, ops.ones_like(scale)).expand_dims(1)

    def construct(self, input):
        if self.max_norm is not None:
            ops.assign(self.embedding_table, self._renormalised(input))
        output = super(Embedding, self).construct(input)
        if self.padding_idx is not None:
            padding = (input == self.padding_idx).expand_dims(-1)
            output = ops.where(padding, ops.stop_gradient(output), output)
        return output


class EmbeddingBag(nn.Cell):
    """Sums, means or maxima of bags of embeddings; bags are rows or start at offsets."""

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",
        sparse=False,
        _weight=None,
        include_last_offset=False,
        padding_idx=None,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if max_norm is not None or scale_grad_by_freq:
            raise NotImplementedError("max_norm and scale_grad_by_freq have no counterpart")
        self.mode = mode
        self.include_last_offset = include_last_offset
        self.padding_idx = padding_idx
        if _weight is None:
            _weight = ops.randn(num_embeddings, embedding_dim, dtype=dtype or mindspore.float32)
        self.weight = Parameter(_weight)

    def construct(self, input, offsets=None, per_sample_weights=None):
        entries = input.reshape(-1)
        if offsets is None:
            bags = input.shape[0]
            bag = ops.arange(bags).expand_dims(1).broadcast_to(input.shape).reshape(-1)
        else:
            starts = offsets[:-1] if self.include_last_offset else offsets
            bags = starts.shape[0]
            position = ops.arange(entries.shape[0])
            bag = (position.expand_dims(0) >= starts.expand_dims(1)).astype("int32").sum(0) - 1
        member = (bag.expand_dims(0) == ops.arange(bags).expand_dims(1)).astype(self.weight.dtype)
        if self.padding_idx is not None:
            member = member * (entries != self.padding_idx).astype(self.weight.dtype)
        values = ops.gather(self.weight, entries, 0)
        if self.mode == "max":
            absent = member.expand_dims(2) == 0
            largest = ops.amax(ops.where(absent, float("-inf"), values.expand_dims(0)), 1)
            return ops.where(member.sum(1, keepdims=True) == 0, 0.0, largest)
        if per_sample_weights is not None:
            values = values * per_sample_weights.reshape((-1, 1))
        total = ops.matmul(member, values)
        if self.mode == "mean":
            total = total / ops.maximum(member.sum(1, keepdims=True), 1.0)
        return total
