"""Attention whose result is always a pair, as torch's is."""

import mindspore
from mindspore import nn


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
        # is_causal is a hint in torch: the mask itself is given beside it.
        output, weights = super(MultiheadAttention, self).construct(
            query, key, value, key_padding_mask, True, attn_mask, average_attn_weights
        )
        return output, weights if need_weights else None
