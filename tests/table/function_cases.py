"""Calls of torch functions that a helper replaces, with the inputs that would show a difference.

An expression names the function as torch does; inputs are given by shape (normal draws),
`unit(...)` (between 0 and 1), `fixed(...)` (the same, not differentiated), `ints(high, ...)`
or `signs(...)`.
"""

from __future__ import annotations

from typing import Any

Case = tuple[str, dict[str, Any]]


def case(expression: str, **inputs: Any) -> Case:
    return expression, inputs


def unit(*shape: int) -> tuple[Any, ...]:
    return ("unit", shape)


def fixed(*shape: int) -> tuple[Any, ...]:
    return ("fixed", shape)


def ints(high: int, *shape: int) -> tuple[Any, ...]:
    return ("ints", shape, high)


def signs(*shape: int) -> tuple[Any, ...]:
    return ("signs", shape)


IMAGE = (2, 3, 8, 9)

WINDOWS = [
    case("conv1d(x, w, b, stride=2, padding=1, groups=2)", x=(2, 4, 9), w=(6, 2, 3), b=(6,)),
    case("conv2d(x, w, b, padding='same', dilation=3)", x=IMAGE, w=(4, 3, 2, 3), b=(4,)),
    case("conv2d(x, w, stride=(1, 2), padding=(2, 1))", x=(3, 8, 9), w=(4, 3, 3, 3)),
    case("conv3d(x, w, padding='same')", x=(1, 2, 4, 5, 6), w=(3, 2, 2, 1, 3)),
    case("conv_transpose1d(x, w, b, 3, 1, 2)", x=(2, 4, 5), w=(4, 3, 4), b=(3,)),
    case("conv_transpose2d(x, w, b, 2, 1, 1, 3)", x=IMAGE, w=(3, 2, 3, 3), b=(6,)),
    case(
        "conv_transpose3d(x, w, None, 2, 1, 1, 1, (2, 1, 2))", x=(1, 2, 3, 4, 3), w=(2, 2, 2, 3, 1)
    ),
    case("fold(x, (4, 5), 2, stride=1)", x=(1, 12, 12)),
    case("avg_pool1d(x, 3, ceil_mode=True)", x=(2, 4, 8)),
    case("avg_pool2d(x, (3, 2), padding=(1, 0), divisor_override=5)", x=IMAGE),
    case("avg_pool2d(x, 3, 2, 1, True, False)", x=(3, 8, 9)),
    case("avg_pool3d(x, 2, padding=1, count_include_pad=False)", x=(1, 2, 4, 5, 6)),
    case("max_pool1d(x, 3, 2, 1)", x=(2, 4, 9)),
    case("max_pool2d(x, 3, 2, 1, return_indices=True)", x=IMAGE),
    case("max_pool3d(x, 2, ceil_mode=True)", x=(1, 2, 5, 5, 6)),
    case("lp_pool2d(x, 3, 2)", x=unit(2, 3, 6, 7)),
    case("adaptive_avg_pool1d(x, 3)", x=(2, 4, 8)),
    case("adaptive_max_pool2d(x, (3, None), return_indices=True)", x=IMAGE),
    case("interpolate(x, scale_factor=1.7, mode='bilinear')", x=IMAGE),
    case("interpolate(x, size=(5, 13), mode='bicubic', align_corners=True)", x=IMAGE),
    case("interpolate(x, size=(5, 4), mode='bicubic', antialias=True)", x=IMAGE),
    case("interpolate(x, size=5, mode='area')", x=(2, 3, 8)),
    case("grid_sample(x, g, 'bicubic', 'reflection', False)", x=IMAGE, g=(2, 4, 5, 2)),
]

LAYERS = [
    case("layer_norm(x, (8, 9), w, b)", x=IMAGE, w=(8, 9), b=(8, 9)),
    case("rms_norm(x, (9,), w)", x=IMAGE, w=(9,)),
    case("batch_norm(x, None, None, w, b, True)", x=IMAGE, w=(3,), b=(3,)),
    case("batch_norm(x, m, v, None, b)", x=IMAGE, m=fixed(3), v=fixed(3), b=(3,)),
    case("instance_norm(x, weight=w, bias=b)", x=IMAGE, w=(3,), b=(3,)),
    case("local_response_norm(x, 4, alpha=0.1)", x=(2, 7, 5)),
    case("normalize(x, dim=2)", x=IMAGE),
    case("normalize(x * 0)", x=(3, 4)),
    case("softmax(x)", x=(2, 3, 4)),
    case("log_softmax(x, -1, dtype=None)", x=(3, 4)),
    case("selu(x)", x=(3, 4)),
    case("prelu(x, w)", x=IMAGE, w=(3,)),
    case("rrelu(x)", x=(3, 4)),
    case("channel_shuffle(x, 2)", x=(2, 6, 3, 3)),
    case("one_hot(i)", i=ints(5, 3, 4)),
    case("embedding(i, w, padding_idx=-1)", i=ints(5, 3, 4), w=(5, 2)),
    case("embedding_bag(i, w, mode='max')", i=ints(5, 3, 4), w=(5, 2)),
    case(
        "embedding_bag(i, w, o, mode='sum', per_sample_weights=p)",
        i=ints(5, 7),
        w=(5, 2),
        o=("offsets",),
        p=unit(7),
    ),
    case(
        "scaled_dot_product_attention(q, k, v, is_causal=True)",
        q=(2, 4, 5, 8),
        k=(2, 4, 5, 8),
        v=(2, 4, 5, 8),
    ),
    case(
        "scaled_dot_product_attention(q, k, v, m > 0, scale=0.3)",
        q=(2, 4, 5, 8),
        k=(2, 4, 6, 8),
        v=(2, 4, 6, 8),
        m=(2, 1, 5, 6),
    ),
    case(
        "multi_head_attention_forward(q, k, k, 8, 2, w, b, bk, bv, True, 0.0, ow, ob, attn_mask=m)",
        q=(5, 3, 8),
        k=(6, 3, 8),
        w=(24, 8),
        b=(24,),
        bk=(1, 1, 8),
        bv=(1, 1, 8),
        ow=(8, 8),
        ob=(8,),
        m=(5, 6),
    ),
]

LOSSES = [
    case("binary_cross_entropy(x, t, w)", x=unit(4, 5), t=unit(4, 5), w=fixed(5)),
    case(
        "binary_cross_entropy_with_logits(x, t, pos_weight=w)", x=(4, 5), t=unit(4, 5), w=fixed(5)
    ),
    case("kl_div(x, t, reduction='batchmean', log_target=True)", x=(4, 5), t=(4, 5)),
    case("kl_div(x, t, reduction='sum')", x=(4, 5), t=unit(4, 5)),
    case("cosine_similarity(x, y, dim=-1)", x=(4, 5), y=(2, 1, 5)),
    case("cosine_embedding_loss(x, y, s, 0.2)", x=(4, 5), y=(4, 5), s=signs(4)),
    case("hinge_embedding_loss(x, s, reduction='sum')", x=(4, 5), s=signs(4, 5)),
    case("soft_margin_loss(x, s)", x=(4, 5), s=signs(4, 5)),
    case("multi_margin_loss(x, i, 2, 0.5, w)", x=(4, 5), i=ints(5, 4), w=fixed(5)),
    case("multilabel_margin_loss(x, i - 1)", x=(4, 5), i=ints(6, 4, 5)),
    case("poisson_nll_loss(x, t, full=True)", x=(4, 5), t=("counts", (4, 5))),
    case("gaussian_nll_loss(x, t, v, True)", x=(4, 5), t=(4, 5), v=unit(4)),
    case("pairwise_distance(x, y, 3.0, keepdim=True)", x=(4, 5), y=(4, 5)),
    case("triplet_margin_loss(x, y, z, swap=True)", x=(4, 5), y=(4, 5), z=(4, 5)),
    case("ctc_loss(x, i + 1, (7, 6), (3, 2))", x=("logs", (7, 2, 5)), i=ints(4, 2, 3)),
]

TENSORS = [
    case("einsum('bhqd,bhkd->bhqk', x, y)", x=(2, 3, 4, 5), y=(2, 3, 6, 5)),
    case("einsum('...ij,...jk->...ik', x, y)", x=(2, 3, 4, 5), y=(3, 5, 2)),
    case("einsum('iij,jk->k', x, y)", x=(3, 3, 4), y=(4, 2)),
    case("einsum('bn,anm,bm->ba', x, y, z)", x=(2, 3), y=(4, 3, 5), z=(2, 5)),
    case("einsum('ii', x)", x=(3, 3)),
    case("sort(x, 0, True)", x=(4, 5)),
    case("topk(x, 2, 0, False)", x=(4, 5)),
    case("kthvalue(x, 3, keepdim=True)", x=(4, 5)),
    case("unique(i, return_inverse=True, return_counts=True)", i=ints(5, 3, 4)),
    case("take(x, i - 12)", x=(3, 4), i=ints(24, 2, 3)),
    case("take_along_dim(x, i, 1)", x=(3, 4), i=ints(4, 1, 2)),
    case("index_add(x, 1, i, y, alpha=2)", x=(3, 4), i=ints(4, 2), y=(3, 2)),
    case("index_fill(x, 0, i, 2.5)", x=(3, 4), i=ints(3, 2)),
    case("scatter(x, 1, i, 1.5)", x=(3, 4), i=ints(4, 3, 2)),
    case("scatter_add(x, 0, i, y)", x=(3, 4), i=ints(3, 2, 4), y=(2, 4)),
    case("norm(x, 1)", x=(3, 4)),
    case("norm(x, dim=(0, 2), keepdim=True)", x=(3, 4, 2)),
    case("cummax(x, 1)", x=(3, 4)),
    case("diff(x, 2, 0, append=y)", x=(3, 4), y=(2, 4)),
    case("quantile(x, 0.3, 1, True)", x=(3, 4)),
    case("var_mean(x, 1)", x=(3, 4)),
    case("cdist(x, y, 0.5)", x=(3, 4), y=(2, 4)),
    case("cross(x, y, dim=-1)", x=(5, 3), y=(5, 3)),
    case("diag(x, 1)", x=(4, 4)),
]

ALGEBRA = [
    case("tensordot(x, y, ([1, 0], [0, 2]))", x=(3, 4, 5), y=(4, 2, 3)),
    case("gradient(x, spacing=0.5, edge_order=2)", x=(4, 5)),
    case("trapezoid(y, x)", y=(3, 4), x=(4,)),
    case("block_diag(x, y)", x=(2, 3), y=(3,)),
    case("isin(i, k)", i=ints(9, 3, 4), k=ints(9, 3)),
    case("bitwise_not(i)", i=ints(9, 3, 4)),
    case("vander(x, 4, True)", x=fixed(3)),
    case("linalg.solve(s, y)", s=(4, 4), y=(4, 2)),
    case("linalg.solve_triangular(s, y, upper=True, unitriangular=True)", s=(4, 4), y=(4, 2)),
    case("linalg.svd(s)[1]", s=(4, 3)),
    case("linalg.matrix_rank(s)", s=(4, 3)),
    case("linalg.householder_product(s, t)", s=(4, 3), t=(3,)),
    case("linalg.vander(x, N=3)", x=(2, 4)),
    case("special.chebyshev_polynomial_t(x, 5)", x=(3, 4)),
    case("special.laguerre_polynomial_l(x, 4)", x=(3, 4)),
    case("special.erfcx(x * 2)", x=(3, 4)),
    case("special.log_ndtr(x * 5)", x=(3, 4)),
    case("special.xlog1py(x, y)", x=(3, 4), y=unit(3, 4)),
    case("hann_window(7) * x", x=(7,)),
    case("kaiser_window(7, False, beta=5.0) * x", x=(7,)),
    case(
        "istft(stft(x, 8, window=w, return_complex=True), 8, window=w, length=30)",
        x=(2, 30),
        w=unit(8),
    ),
]

GROUPS = {
    "windows": WINDOWS,
    "layers": LAYERS,
    "losses": LOSSES,
    "tensors": TENSORS,
    "algebra": ALGEBRA,
}
