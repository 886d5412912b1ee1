"""Attention whose result is always a pair, as torch's is."""

import mindspore
from mindspore import nn

from migrate.emit.helpers.functions_attention import multi_head_attention_forward


class MultiheadAttention(nn.MultiheadAttention):
    """nn.MultiheadAttention with torch's signatures; without weights it gives (output, None)."""

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        super().__init__(
            embed_dim,
            num_heads,
            dropout=dropout,
            has_bias=bias,
            add_bias_kv=add_bias_kv,
            add_zero_attn=add_zero_attn,
            kdim=kdim,
            vdim=vdim,
            batch_first=batch_first,
            dtype=dtype or mindspore.float32,
        )
        if bias:
            self.out_proj.bias.set_data(mindspore.ops.zeros_like(self.out_proj.bias))

    def __call__(self, query, key, value, *args, **kwargs):
        # MindSpore's looks for the three among the positional arguments, whoever names them.
        return super().__call__(query, key, value, *args, **kwargs)

    def construct(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        if key_padding_mask is not None:
            return self._padded(
                query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights
            )
        # is_causal is a hint in torch: the mask itself is given beside it.
        output, weights = super(MultiheadAttention, self).construct(
            query, key, value, key_padding_mask, True, attn_mask, average_attn_weights
        )
        return output, weights if need_weights else None

    def _padded(self, query, key, value, padding, need_weights, attn_mask, average):
        """Where all is masked MindSpore's softmax on CPU spoils the other rows, too."""
        first = self.batch_first and query.ndim == 3
        if first:
            query, key, value = query.swapaxes(0, 1), key.swapaxes(0, 1), value.swapaxes(0, 1)
        output, weights = multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            self.training,
            padding,
            need_weights,
            attn_mask,
            self.q_proj_weight is not None,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
            average_attn_weights=average,
        )
        return output.swapaxes(0, 1) if first else output, weights
