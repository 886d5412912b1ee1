"""Method names that give a torch tensor away even where nothing else says what the receiver is."""

from __future__ import annotations

import ast
import io

# Keywords that torch has in its methods and numpy, pandas and Python have not.
_KEYWORDS = frozenset({"dim", "keepdim", "unbiased"})
# Files have a detach too, tensorflow a numpy: not in a program that uses torch.
_WITHOUT_ARGUMENTS = frozenset({"clone", "detach", "long", "numpy"})
# numpy has functions of these names, and no methods.
_WITH_DIMENSIONS = frozenset({"flip"})


def says_tensor(call: ast.Call) -> bool:
    """`x.size(0)`, `x.sum(dim=1)`, `x.detach()`: the way a method is called tells."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name == "size":
        return len(call.args) == 1
    if name == "type":  # numpy's dtypes have one too: `array.dtype.type(x)` makes a number
        return len(call.args) == 1 and _names_a_type(call.args[0])
    if name in _WITHOUT_ARGUMENTS:
        return not call.args and not call.keywords
    if name in _WITH_DIMENSIONS:
        return bool(call.args) and all(map(_is_dimension, call.args)) and not call.keywords
    if name == "argsort" and any(keyword.arg == "descending" for keyword in call.keywords):
        return True
    return any(keyword.arg in _KEYWORDS for keyword in call.keywords)


def _is_dimension(node: ast.expr) -> bool:
    """`0`, `-1`, `[2, 3]`"""
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(map(_is_dimension, node.elts))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is int


def _names_a_type(node: ast.expr) -> bool:
    """`torch.float64`, `other.dtype`, `FloatTensor`, `"torch.cuda.FloatTensor"`, `other.type()`."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.endswith("Tensor")
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "type"
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id == "torch" or _is_types_name(node.attr)
    return _is_types_name(node.id if isinstance(node, ast.Name) else getattr(node, "attr", ""))


def _is_types_name(name: str) -> bool:
    return "dtype" in name.lower() or name.endswith("Tensor")


# Not here: names that builtins, files, numpy, PIL, pandas, scipy or torch's own modules also have,
# and names that people like to give to layers (norm, relu, softmax, unfold).
DISTINCTIVE: frozenset[str] = frozenset(
    """
    abs_ absolute_ acos acos_ acosh acosh_ add_ addbmm addbmm_ addcdiv addcdiv_ addcmul addcmul_
    addmm addmm_ addmv addmv_ addr addr_ aminmax arccos_ arccosh_ arcsin_ arcsinh_ arctan2_
    arctan_ arctanh_ argwhere as_strided as_strided_ as_strided_scatter as_subclass asin asin_
    asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ baddbmm baddbmm_ bernoulli_ bitwise_and
    bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or
    bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ bmm
    broadcast_to cauchy_ ccol_indices cdouble ceil_ cfloat chalf cholesky_inverse cholesky_solve
    chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip_ col_indices conj_physical
    conj_physical_ const_data_ptr contiguous copy_ copysign_ cos_ cosh_ crow_indices cumprod_
    cumsum_ data_ptr deg2rad_ dense_dim detach_ diag_embed diagflat diagonal_scatter digamma
    digamma_ dim_order div_ divide_ dsplit element_size eq_ erf erf_ erfc erfc_ erfinv erfinv_
    exp2_ exp_ expand_as expm1_ exponential_ fill_ fill_diagonal_ fix_ fliplr flipud float_power
    float_power_ floor_ floor_divide floor_divide_ fmod_ frac_ gcd_ ge_ geometric_ geqrf ger
    get_device grad_dtype greater_ greater_equal_ gt_ hash_tensor heaviside_ histc hsplit hypot_
    i0_ igamma igamma_ igammac igammac_ index_add index_add_ index_copy index_copy_ index_fill
    index_fill_ index_put index_put_ index_reduce index_reduce_ index_select int_repr
    is_coalesced is_conj is_contiguous is_cpu is_floating_point is_inference is_ipu is_maia
    is_meta is_mkldnn is_mps is_mtia is_neg is_nonzero is_quantized is_same_size is_set_to
    is_sparse is_sparse_csr is_vulkan is_xla is_xpu isneginf isposinf kthvalue lcm_ ldexp_ le_
    lerp_ less_ less_equal_ lgamma lgamma_ log10_ log1p_ log2_ log_ log_normal_ logaddexp
    logaddexp2 logcumsumexp logdet logical_and_ logical_not_ logical_or_ logical_xor_ logit_
    logsumexp lt_ lu_solve mH mT masked_fill masked_fill_ masked_scatter masked_scatter_
    masked_select matrix_exp matrix_power movedim mul_ multiply_ mvlgamma mvlgamma_ nan_to_num
    nan_to_num_ nanmean nanmedian nanquantile nansum narrow narrow_copy ndimension ne_ neg_
    negative_ nelement new_empty new_empty_strided new_full new_ones new_tensor new_zeros
    nextafter_ nonzero_static normal_ not_equal_ numel orgqr ormqr output_nr permute pinverse
    polygamma polygamma_ pow_ q_per_channel_axis q_per_channel_scales q_per_channel_zero_points
    q_scale q_zero_point rad2deg_ random_ reciprocal_ record_stream
    register_post_accumulate_grad_hook relu_ remainder_ renorm renorm_ repeat_interleave
    requires_grad reshape_as resize_ resize_as resize_as_ resize_as_sparse_ resolve_conj
    resolve_neg retain_grad retains_grad round_ row_indices rsqrt rsqrt_ scatter_ scatter_add
    scatter_add_ scatter_reduce scatter_reduce_ select_scatter sgn sgn_ sigmoid_ sign_ sin_
    sinc_ sinh_ slice_inverse slice_scatter slogdet sparse_dim sparse_mask sparse_resize_
    sparse_resize_and_clear_ split_with_sizes sqrt_ square_ squeeze_ sspaddmm storage_offset
    storage_type sub_ subtract_ sum_to_size swapaxes_ swapdims swapdims_ take_along_dim tan_
    tanh_ tensor_split to_mkldnn to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr
    to_sparse_coo to_sparse_csc to_sparse_csr topk transpose_ triangular_solve tril tril_ triu
    triu_ true_divide true_divide_ trunc_ type_as unbind unflatten uniform_ unique_consecutive
    unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_ untyped_storage
    view_as vsplit xlogy xlogy_ zero_
    """.split()  # noqa: SIM905 - a list would take a line for each name
)

# Methods that plain Python objects have too: a name alone says nothing.
PYTHON_METHODS = frozenset(
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, io.TextIOWrapper, io.BytesIO)
    for name in dir(kind)
)
MAPPING_METHODS = frozenset({"items", "keys", "values"})
# Members of torch's named tuples, by position.
NAMED_RESULTS = {
    name: index
    for names in (
        "values indices",
        "sign logabsdet",
        "Q R",
        "U S V",
        "U S Vh",
        "min max",
        "mantissa exponent",
        "hist bin_edges",
        "eigenvalues eigenvectors",
        "LU pivots info",
        "solution residuals rank singular_values",
    )
    for index, name in enumerate(names.split())
}
