"""torch's attention functions from matrix products and a softmax."""

import math

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_activation import softmax
from migrate.emit.helpers.functions_constant_pad import constant_pad
from migrate.emit.helpers.functions_nan import softmax_with_nan


def _attention_mask(scores, attn_mask, is_causal):
    """Add torch's mask: False or minus infinity means that a position is not seen."""
    if is_causal:
        seen = ops.tril(ops.ones(scores.shape[-2:], scores.dtype)) > 0
        scores = ops.where(seen, scores, float("-inf"))
    if attn_mask is None:
        return scores
    if attn_mask.dtype == mindspore.bool_:
        return ops.where(attn_mask, scores, float("-inf"))
    return scores + attn_mask


def _safe_softmax(scores):
    """Zeros for a row of which all is masked."""
    masked = ops.amax(scores, -1, True) == float("-inf")
    nothing = ops.zeros_like(scores)
    return ops.where(masked, nothing, softmax(ops.where(masked, nothing, scores), -1))


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """torch's scaled_dot_product_attention."""
    if enable_gqa:
        key = ops.repeat_interleave(key, query.shape[-3] // key.shape[-3], axis=-3)
        value = ops.repeat_interleave(value, query.shape[-3] // value.shape[-3], axis=-3)
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = ops.matmul(query * scale, key.swapaxes(-2, -1))
    scores = _attention_mask(scores, attn_mask, is_causal)
    weights = softmax(scores, -1) if attn_mask is None else _safe_softmax(scores)
    if dropout_p > 0.0:
        weights = ops.dropout(weights, p=dropout_p)
    return ops.matmul(weights, value)


def _split_heads(x, batch_heads, head_dim):
    """(length, batch, heads * dim) as (batch * heads, length, dim)."""
    return x.reshape((x.shape[0], batch_heads, head_dim)).swapaxes(0, 1)


def _float_mask(mask, dtype):
    """A boolean mask of positions to leave out, as numbers to add."""
    if mask.dtype == mindspore.bool_:
        return ops.where(mask, ops.full((), float("-inf"), dtype=dtype), ops.zeros((), dtype))
    return mask


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """torch's multi_head_attention_forward for inputs of (length, batch, channels)."""
    unbatched = query.ndim == 2
    if unbatched:
        query, key, value = query.expand_dims(1), key.expand_dims(1), value.expand_dims(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.expand_dims(0)
    length, batch, channels = query.shape
    head_dim = channels // num_heads
    if not use_separate_proj_weight:
        q_proj_weight, k_proj_weight, v_proj_weight = ops.chunk(in_proj_weight, 3, axis=0)
    if in_proj_bias is None:
        q = ops.dense(query, q_proj_weight)
        k = ops.dense(key, k_proj_weight)
        v = ops.dense(value, v_proj_weight)
    else:
        q_bias, k_bias, v_bias = ops.chunk(in_proj_bias, 3, axis=0)
        q = ops.dense(query, q_proj_weight, q_bias)
        k = ops.dense(key, k_proj_weight, k_bias)
        v = ops.dense(value, v_proj_weight, v_bias)
    added = 0
    if bias_k is not None:
        k = ops.cat((k, bias_k.broadcast_to((1, batch, channels))), axis=0)
        v = ops.cat((v, bias_v.broadcast_to((1, batch, channels))), axis=0)
        added += 1
    q = _split_heads(q, batch * num_heads, head_dim)
    k = _split_heads(k, batch * num_heads, head_dim) if static_k is None else static_k
    v = _split_heads(v, batch * num_heads, head_dim) if static_v is None else static_v
    if add_zero_attn:
        nothing = ops.zeros((batch * num_heads, 1, head_dim), k.dtype)
        k, v = ops.cat((k, nothing), axis=1), ops.cat((v, nothing), axis=1)
        added += 1
    source = k.shape[1]
    scores = ops.bmm(q * (1.0 / math.sqrt(head_dim)), k.swapaxes(1, 2))
    if attn_mask is not None:
        mask = _float_mask(attn_mask, scores.dtype)
        mask = constant_pad(mask, (0, added)) if added > 0 else mask
        scores = scores + mask
    elif is_causal:
        scores = _attention_mask(scores, None, True)
    if key_padding_mask is not None:
        mask = _float_mask(key_padding_mask, scores.dtype)
        mask = constant_pad(mask, (0, added)) if added > 0 else mask
        scores = scores.reshape((batch, num_heads, length, source))
        scores = scores + mask.reshape((batch, 1, 1, source))
        scores = scores.reshape((batch * num_heads, length, source))
    masked = attn_mask is not None or key_padding_mask is not None
    if masked:
        weights = softmax_with_nan(scores, -1) if need_weights else _safe_softmax(scores)
    else:
        weights = softmax(scores, -1)
    used = ops.dropout(weights, p=dropout_p) if training and dropout_p > 0.0 else weights
    output = ops.bmm(used, v).swapaxes(0, 1).reshape((length * batch, channels))
    output = ops.dense(output, out_proj_weight, out_proj_bias).reshape((length, batch, -1))
    if unbatched:
        output = output.squeeze(1)
    if not need_weights:
        return output, None
    weights = weights.reshape((batch, num_heads, length, source))
    if average_attn_weights:
        weights = ops.mean(weights, axis=1)
    return output, weights.squeeze(0) if unbatched else weights
